package io.dynamo.frontend.preprocess.jinja;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Random templates, rendered by jinja2 beforehand: {@code src/test/python/fuzz_templates.py} made
 * them and their texts.
 */
class JinjaFuzzTest {
  private static final JinjaTemplate.Limits LIMITS =
      new JinjaTemplate.Limits(Clock.systemUTC(), 1 << 20, Duration.ofSeconds(20));

  /** Each case is a template and its text, which is null when the template fails. */
  record Recording(Map<String, Object> values, List<List<@Nullable String>> cases) {}

  @Test
  void randomTemplatesRenderAsInJinja2() throws IOException {
    Recording recording;
    try (var in = JinjaFuzzTest.class.getResourceAsStream("/fuzzed.json")) {
      recording = new ObjectMapper().readValue(Objects.requireNonNull(in), Recording.class);
    }
    assertThat(recording.cases()).hasSizeGreaterThan(1000);
    var differences = new ArrayList<String>();
    for (var it : recording.cases()) {
      var source = Objects.requireNonNull(it.getFirst());
      var ours = render(source, recording.values());
      if (!Objects.equals(ours, it.getLast())) {
        differences.add("%n%s%n  jinja2: %s%n  here:   %s".formatted(source, it.getLast(), ours));
      }
    }
    assertThat(differences).isEmpty();
  }

  private static @Nullable String render(String source, Map<String, Object> values) {
    try {
      return JinjaTemplate.compile(source).render(values, LIMITS);
    } catch (JinjaException e) {
      return null;
    }
  }
}
