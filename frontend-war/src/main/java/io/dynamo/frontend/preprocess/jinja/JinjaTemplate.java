package io.dynamo.frontend.preprocess.jinja;

import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A compiled template. Immutable, safe for concurrent use. */
public final class JinjaTemplate {
  /**
   * Inputs may be larger than the text, as templates do not print everything, sounds for example.
   */
  private static final long INPUT_PER_OUTPUT = 4;

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
   * The limits of a rendering.
   *
   * @param clock for {@code strftime_now}
   * @param maxLength characters of the text, and of each value on its way, at most; four times as
   *     many are taken in
   * @param timeLimit of one rendering
   */
  public record Limits(Clock clock, int maxLength, Duration timeLimit) {}

  /**
   * The text for {@code values}: maps, lists, strings, numbers, booleans and null.
   *
   * @throws JinjaException when the template fails, refuses its input or exceeds a limit
   */
  public String render(Map<String, ?> values, Limits limits) {
    if (!fits(values, INPUT_PER_OUTPUT * limits.maxLength())) {
      throw new JinjaException(
          "the messages and tools have more than %d characters and values together"
              .formatted(INPUT_PER_OUTPUT * limits.maxLength()));
    }
    var scope = new Scope(Globals.scope(limits.clock()));
    values.forEach((name, value) -> scope.set(name, Values.of(value)));
    try {
      return new Interpreter(limits).render(body, scope);
    } catch (StackOverflowError e) {
      throw new JinjaException("the template nests its values too deep");
    }
  }

  private static boolean fits(Map<String, ?> values, long limit) {
    return left(values, limit) >= 0;
  }

  /**
   * Subtracts the characters and values of {@code value} from {@code limit}, and returns the rest.
   */
  private static long left(@Nullable Object value, long limit) {
    long left = limit - 1;
    switch (value) {
      case String text -> left -= text.length();
      case List<?> list -> {
        for (int i = 0; i < list.size() && left >= 0; i++) {
          left = left(list.get(i), left);
        }
      }
      case Map<?, ?> map -> {
        for (var entry : map.entrySet()) {
          if (left < 0) {
            break;
          }
          left = left(entry.getValue(), left(entry.getKey(), left));
        }
      }
      case null, default -> {}
    }
    return left;
  }
}
