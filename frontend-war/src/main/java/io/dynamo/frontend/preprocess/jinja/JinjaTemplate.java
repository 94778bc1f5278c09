package io.dynamo.frontend.preprocess.jinja;

import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** A compiled template. Immutable, safe for concurrent use. */
public final class JinjaTemplate {
  private final List<Node> body;

  private JinjaTemplate(List<Node> body) {
    this.body = body;
  }

  /**
   * Reads a template.
   *
   * @throws JinjaException when it does not parse or uses a filter, test or tag that is not there
   */
  public static JinjaTemplate compile(String template) {
    return new JinjaTemplate(TemplateParser.parse(template));
  }

  /**
   * What bounds a rendering.
   *
   * @param clock for {@code strftime_now}
   * @param maxLength characters of the text at most
   * @param timeLimit of one rendering
   */
  public record Limits(Clock clock, int maxLength, Duration timeLimit) {}

  /**
   * The text for {@code values}: maps, lists, strings, numbers, booleans and null.
   *
   * @throws JinjaException when the template fails, refuses its input or exceeds a limit
   */
  public String render(Map<String, ?> values, Limits limits) {
    var scope = new Scope(Globals.scope(limits.clock()));
    values.forEach((name, value) -> scope.set(name, Values.of(value)));
    return new Interpreter(limits).render(body, scope);
  }
}
