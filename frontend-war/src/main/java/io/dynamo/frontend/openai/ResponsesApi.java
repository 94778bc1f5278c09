package io.dynamo.frontend.openai;

import com.fasterxml.jackson.databind.JsonNode;
import io.dynamo.frontend.openai.wire.AnswerFormat;
import io.dynamo.frontend.openai.wire.Continuation;
import io.dynamo.frontend.openai.wire.PromptCount;
import io.dynamo.frontend.openai.wire.ResponsesReader;
import io.dynamo.frontend.preprocess.ModelText;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** OpenAI's Responses: conversations like those of chat, answered with items. */
final class ResponsesApi implements Api {
  private final boolean counts;

  /**
   * @param counts whether only the tokens of prompts are counted
   */
  ResponsesApi(boolean counts) {
    this.counts = counts;
  }

  @Override
  public boolean isRecorded() {
    return !counts;
  }

  @Override
  public String endpoint() {
    return counts ? "responses_input_tokens" : "responses";
  }

  @Override
  public Set<String> modelTypes() {
    return Set.of("Chat");
  }

  @Override
  public String promptField() {
    return "input";
  }

  @Override
  public boolean asksForPromptOnly() {
    return counts;
  }

  @Override
  public boolean knows(String field) {
    return ResponsesReader.knows(field);
  }

  @Override
  public ParsedRequest read(JsonNode body) {
    return read(body, Continuation.NONE);
  }

  /**
   * Reads and checks a body that may continue a stored conversation.
   *
   * @throws io.dynamo.frontend.ApiException with 400 or 501
   */
  ParsedRequest read(JsonNode body, Continuation continuation) {
    var read = ResponsesReader.read(body, continuation);
    return new ParsedChat(read.chat(), new Answer(read, counts));
  }

  /** The answer to one request. */
  private record Answer(ResponsesReader.Read read, boolean counts) implements ChatDialect {
    @Override
    public AnswerFormat answerFormat(
        String requestId, long createdSeconds, String model, String reasoningField) {
      return read.answer(requestId, createdSeconds, model);
    }

    @Override
    public AnswerFormat recordFormat(
        String requestId, long createdSeconds, String model, String reasoningField) {
      return read.copy(requestId, createdSeconds, model);
    }

    @Override
    public byte @Nullable [] promptAnswer(ModelText model, List<PreparedPrompt> prompts) {
      return counts ? PromptCount.responses(prompts.getFirst().tokens().length) : null;
    }
  }
}
