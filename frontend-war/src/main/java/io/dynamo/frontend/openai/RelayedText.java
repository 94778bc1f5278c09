package io.dynamo.frontend.openai;

import com.fasterxml.jackson.databind.JsonNode;
import io.dynamo.frontend.openai.wire.AnswerFormat;
import io.dynamo.frontend.openai.wire.GenerationFields;
import io.dynamo.frontend.openai.wire.RelayedAnswer;
import io.dynamo.frontend.openai.wire.RelayedRequest;
import io.dynamo.frontend.preprocess.ModelText;
import io.dynamo.inference.BodyTask;
import java.util.List;

/**
 * A request for text whose body goes to a worker: one that renders and tokenises by itself.
 *
 * @param read the checked content of the body
 * @param sent the body as a worker gets it
 */
record RelayedText(RelayedAnswer.Form form, Api.ParsedRequest read, BodyTask sent)
    implements Api.ParsedRequest {
  private static final PreparedPrompt NO_PROMPT = new PreparedPrompt(new int[0], null, false);

  static RelayedText of(RelayedAnswer.Form form, Api.ParsedRequest read, JsonNode body) {
    return new RelayedText(form, read, new BodyTask(RelayedRequest.body(body)));
  }

  @Override
  public GenerationFields fields() {
    return read.fields();
  }

  @Override
  public Api.ParsedRequest with(GenerationFields fields) {
    return new RelayedText(form, read.with(fields), sent);
  }

  @Override
  public List<PreparedPrompt> prepare(ModelText model, boolean hideTools) {
    return List.of(NO_PROMPT);
  }

  @Override
  public int prompts() {
    return read.prompts();
  }

  @Override
  public int texts() {
    return read.texts();
  }

  @Override
  public String trigger() {
    return read.trigger();
  }

  @Override
  public RelayWish relay() {
    return new RelayWish(form, sent, prompts() * texts(), fields().stream().events());
  }

  @Override
  public AnswerFormat answerFormat(
      String requestId, long createdSeconds, String model, String reasoningField) {
    throw new IllegalStateException("the worker writes the answer");
  }
}
