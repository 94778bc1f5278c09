package io.dynamo.frontend.preprocess.jinja;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Templates as their models ship them, which are not ours to keep: a folder of them, where {@code
 * render_templates.py} has written what jinja2 makes of each.
 */
@EnabledIfSystemProperty(named = PublishedTemplatesTest.FOLDER, matches = ".+")
class PublishedTemplatesTest {
  static final String FOLDER = "dynamo.test.templates";

  private static Path folder() {
    return Path.of(System.getProperty(FOLDER));
  }

  static Stream<Arguments> renderedByJinja2() throws IOException {
    var file = folder().resolve("rendered.json").toFile();
    var recording = new ObjectMapper().readValue(file, JinjaTemplateTest.Recording.class);
    return recording.rendered().stream()
        .filter(rendered -> !isOfGenerators(rendered))
        .map(
            rendered ->
                Arguments.of(rendered, recording.conversations().get(rendered.conversation())));
  }

  /** Python cannot write what {@code map} yields as JSON; here it is a list like any other. */
  private static boolean isOfGenerators(JinjaTemplateTest.Rendered rendered) {
    var error = rendered.error();
    return error != null && error.contains("type generator is not JSON serializable");
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("renderedByJinja2")
  void rendersLikeJinja2(JinjaTemplateTest.Rendered rendered, Map<String, Object> values)
      throws IOException {
    var source = Files.readString(folder().resolve(rendered.template() + ".jinja"));
    var template = JinjaTemplate.compile(source);
    if (rendered.text() != null) {
      assertThat(template.render(values, JinjaTemplateTest.LIMITS)).isEqualTo(rendered.text());
    } else {
      var refusal =
          assertThatThrownBy(() -> template.render(values, JinjaTemplateTest.LIMITS))
              .isInstanceOf(JinjaException.class);
      if (Boolean.TRUE.equals(rendered.refused())) { // the template's own words
        refusal.hasMessage(rendered.error());
      }
    }
  }
}
