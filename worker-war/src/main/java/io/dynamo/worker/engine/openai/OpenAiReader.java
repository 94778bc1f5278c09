package io.dynamo.worker.engine.openai;

import io.dynamo.error.ErrorCode;
import io.dynamo.error.WorkerLostException;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.PassedOn;
import io.dynamo.json.JsonObject;
import io.dynamo.worker.engine.remote.Chunk;
import io.dynamo.worker.engine.remote.Refusal;
import io.dynamo.worker.engine.remote.SseReader;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads the messages of one answer of {@code /v1/completions}, streamed or whole. */
final class OpenAiReader extends SseReader {
  private final TextVocabulary vocabulary;
  private String begun = ""; // the first half of a character whose second is in the next message

  OpenAiReader(TextVocabulary vocabulary) {
    this.vocabulary = vocabulary;
  }

  @Override
  protected Chunk readMessage(JsonObject message) {
    var failure = message.members().get("error");
    if (failure != null) {
      throw Refusal.of(OpenAiDialect.NAME, failure);
    }
    var choices = message.optionalObjects("choices");
    if (choices.isEmpty()) {
      return chunk("", null, cachedTokens(message));
    }
    var choice = choices.getFirst();
    var text = choice.members().get("text");
    if (text != null && !(text instanceof String)) {
      throw new IllegalArgumentException("member \"text\" is no text");
    }
    return chunk(
        text == null ? "" : (String) text,
        choice.optionalText("finish_reason"),
        cachedTokens(message));
  }

  private Chunk chunk(String message, @Nullable String finish, @Nullable Integer cached) {
    var text = begun + message;
    int end = text.length();
    if (end > 0 && finish == null && Character.isHighSurrogate(text.charAt(end - 1))) {
      end--;
    }
    begun = text.substring(end);
    return new Chunk(
        vocabulary.tokens(text.substring(0, end)),
        null,
        List.of(),
        finish == null ? null : finish(finish),
        null,
        cached,
        false,
        PassedOn.NONE);
  }

  private static FinishReason finish(String reason) {
    return switch (reason) {
      case "length" -> FinishReason.LENGTH;
      case "content_filter" -> FinishReason.CONTENT_FILTER;
      case "abort", "cancelled", "error" ->
          throw new WorkerLostException(
              ErrorCode.BACKEND_ENGINE_SHUTDOWN,
              "%s server ended the generation by \"%s\"".formatted(OpenAiDialect.NAME, reason));
      default -> FinishReason.EOS; // the server ends at the model's end alone: it gets no stops
    };
  }
}
