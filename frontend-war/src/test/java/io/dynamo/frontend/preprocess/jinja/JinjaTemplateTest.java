package io.dynamo.frontend.preprocess.jinja;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The oracle is jinja2 itself: {@code src/test/python/render_templates.py} wrote the outputs. */
class JinjaTemplateTest {
  private static final Clock NOON =
      Clock.fixed(Instant.parse("2026-03-05T12:07:09Z"), ZoneOffset.UTC);
  static final JinjaTemplate.Limits LIMITS =
      new JinjaTemplate.Limits(NOON, 1 << 20, Duration.ofSeconds(20));

  record Rendered(
      String template,
      String conversation,
      @Nullable String text,
      @Nullable String error,
      @Nullable Boolean refused) {
    @Override
    public String toString() {
      return template + ", " + conversation;
    }
  }

  record Recording(Map<String, Map<String, Object>> conversations, List<Rendered> rendered) {}

  private static Recording recording() throws IOException {
    try (var in = resource("/rendered.json")) {
      return new ObjectMapper().readValue(in, Recording.class);
    }
  }

  static Stream<Arguments> renderedByJinja2() throws IOException {
    var recording = recording();
    return recording.rendered().stream()
        .map(
            rendered ->
                Arguments.of(rendered, recording.conversations().get(rendered.conversation())));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("renderedByJinja2")
  void rendersLikeJinja2(Rendered rendered, Map<String, Object> values) throws IOException {
    var template = JinjaTemplate.compile(source(rendered.template()));
    if (rendered.error() != null) {
      assertThatThrownBy(() -> template.render(values, LIMITS))
          .isInstanceOf(JinjaException.class)
          .hasMessage(rendered.error());
    } else {
      assertThat(template.render(values, LIMITS)).isEqualTo(rendered.text());
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}",
        "{% for i in range(100000) %}{{ 'xxxxxxxxxxxxxxxxxxxxxxxx' }}{% endfor %}",
        "{{ 'x' * 100000000 }}",
        "{{ 9 ** 9999 }}",
        "{% set a = 'x' * 60000 %}{{ a.replace('x', a) }}",
        "{% set a = 'x' * 60000 %}{{ a | join(a) }}",
        "{% set a = 'x' * 60000 %}{{ a.join(range(60000) | map('string')) }}",
        "{{ ('{0:>10000}' * 2000).format(1) }}",
        "{{ ('%(a)9999s' * 5000) % {'a': 1} }}",
        "{{ ('\\n' * 60000) | indent(60000, blank=true) }}",
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        "{{ range(100001) }}",
        "{{ ''.getClass() }}",
        "{{ messages.append(1) }}",
        "{{ missing.name }}",
        "{{ raise_exception('no') }}"
      })
  void refusesToRunAway(String source) {
    var template = JinjaTemplate.compile(source);
    var limits = new JinjaTemplate.Limits(NOON, 1 << 16, Duration.ofMillis(200));

    assertThatThrownBy(() -> template.render(Map.of("messages", List.of()), limits))
        .isInstanceOf(JinjaException.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{% if x %}",
        "{{ x",
        "{% nope %}",
        "{{ x|nope }}",
        "{{ x is nope }}",
        "{{ (1 }}",
        "{% break %}",
        "{{ 'a }}",
        "{% endif %}",
        "{% include 'x' %}",
        "{# x"
      })
  void refusesBrokenTemplates(String source) {
    assertThatThrownBy(() -> JinjaTemplate.compile(source)).isInstanceOf(JinjaException.class);
  }

  @Test
  void anUnknownFilterOrTestUnderAConditionFailsOnlyWhenReached() {
    for (var source :
        List.of(
            "{% if x %}{{ 1|nope }}{% else %}a{% endif %}",
            "{% if not x %}a{% elif x is defined %}{{ 1|nope }}{% endif %}",
            "{{ 1|nope if x else 'a' }}")) {
      var template = JinjaTemplate.compile(source);
      assertThat(template.render(Map.of("x", false), LIMITS)).isEqualTo("a");
      assertThatThrownBy(() -> template.render(Map.of("x", true), LIMITS))
          .isInstanceOf(JinjaException.class)
          .hasMessage("No filter named 'nope' found.");
    }
  }

  @Test
  void selectingAndMappingFiltersTreatNoneAsEmpty() {
    var template =
        JinjaTemplate.compile(
            "{{ none|select|list }}{{ none|selectattr('a')|list }}{{ none|map('upper')|list }}");

    assertThat(template.render(Map.of(), LIMITS)).isEqualTo("[][][]");
  }

  @Test
  void spellsTheDateLikeStrftime() {
    var template = JinjaTemplate.compile("{{ strftime_now('%d %b %Y %-d %H:%M:%S %A %%') }}");

    assertThat(template.render(Map.of(), LIMITS)).isEqualTo("05 Mar 2026 5 12:07:09 Thursday %");
  }

  @Test
  void leavesOutGenerationMarks() {
    var template = JinjaTemplate.compile("a{% generation %}b{% endgeneration %}c");

    assertThat(template.render(Map.of(), LIMITS)).isEqualTo("abc");
  }

  @Test
  void uniqueKeepsTheFirstOfEqualItemsAndIsLinear() {
    var few =
        JinjaTemplate.compile("{{ [1, 1.0, true, 'a', 'A', 1.5, [1], [1.0], 2]|unique|list }}");
    assertThat(few.render(Map.of(), LIMITS)).isEqualTo("[1, 'a', 1.5, [1], 2]");

    var many = JinjaTemplate.compile("{{ range(100000)|unique|list|length }}");
    assertThat(
            Assertions.assertTimeoutPreemptively(
                Duration.ofSeconds(5), () -> many.render(Map.of(), LIMITS)))
        .isEqualTo("100000");
  }

  private static String source(String template) throws IOException {
    if (template.equals("tiny")) {
      return Files.readString(
          Path.of("../server-config/src/main/liberty/config/models/tiny/chat_template.jinja"));
    }
    try (var in = resource("/templates/" + template + ".jinja")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private static InputStream resource(String name) {
    return Objects.requireNonNull(JinjaTemplateTest.class.getResourceAsStream(name), name);
  }
}
