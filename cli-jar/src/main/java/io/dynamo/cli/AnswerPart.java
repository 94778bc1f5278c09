package io.dynamo.cli;

import io.dynamo.json.Json;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A piece of a streamed chat completion.
 *
 * @param error the message of an error that ends the stream; null for none
 * @param tokens tokens of the whole answer, as far as this piece reports them; −1 where it does not
 */
record AnswerPart(String content, String reasoning, @Nullable String error, int tokens) {
  private static final String DATA = "data:";
  private static final String DONE = "[DONE]";

  /** Reads one line of a stream of events; null when it carries no piece. */
  static @Nullable AnswerPart of(String line) {
    if (!line.startsWith(DATA)) {
      return null;
    }
    var data = line.substring(DATA.length()).strip();
    if (data.equals(DONE) || data.isEmpty()) {
      return null;
    }
    var chunk = Json.readObject(data.getBytes(StandardCharsets.UTF_8)).members();
    if (chunk.get("error") instanceof Map<?, ?> error) {
      return new AnswerPart("", "", String.valueOf(error.get("message")), -1);
    }
    int tokens =
        chunk.get("usage") instanceof Map<?, ?> usage
                && usage.get("completion_tokens") instanceof Number count
            ? count.intValue()
            : -1;
    if (chunk.get("choices") instanceof List<?> choices
        && !choices.isEmpty()
        && choices.getFirst() instanceof Map<?, ?> choice
        && choice.get("delta") instanceof Map<?, ?> delta) {
      return new AnswerPart(
          text(delta.get("content")), text(delta.get("reasoning_content")), null, tokens);
    }
    return new AnswerPart("", "", null, tokens);
  }

  private static String text(@Nullable Object value) {
    return value instanceof String text ? text : "";
  }
}
