package io.dynamo.frontend.openai;

import com.fasterxml.jackson.databind.JsonNode;
import io.dynamo.frontend.openai.wire.AnswerFormat;
import io.dynamo.frontend.openai.wire.CompletionAnswer;
import io.dynamo.frontend.openai.wire.CompletionRequest;
import io.dynamo.frontend.openai.wire.CompletionRequestReader;
import io.dynamo.frontend.openai.wire.GenerationFields;
import io.dynamo.frontend.openai.wire.RelayedAnswer;
import io.dynamo.frontend.preprocess.ModelText;
import io.dynamo.model.ModelCard;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/** Completions: prompts as they are, without a template. */
final class CompletionApi implements Api {
  @Override
  public boolean isRecorded() {
    return true;
  }

  @Override
  public String endpoint() {
    return "completions";
  }

  @Override
  public Set<String> modelTypes() {
    return Set.of("Completions");
  }

  @Override
  public String promptField() {
    return "prompt";
  }

  @Override
  public boolean knows(String field) {
    return CompletionRequestReader.knows(field);
  }

  @Override
  public ParsedRequest relayed(JsonNode body, ParsedRequest read, ModelCard card) {
    return RelayedText.of(RelayedAnswer.Form.COMPLETIONS, read, body);
  }

  @Override
  public ParsedRequest read(JsonNode body) {
    return new Completion(CompletionRequestReader.read(body));
  }

  private record Completion(CompletionRequest request) implements ParsedRequest {
    @Override
    public GenerationFields fields() {
      return request.fields();
    }

    @Override
    public ParsedRequest with(GenerationFields fields) {
      return new Completion(
          new CompletionRequest(fields, request.prompts(), request.echo(), request.bestOf()));
    }

    @Override
    public List<PreparedPrompt> prepare(ModelText model, boolean hideTools) {
      return request.prompts().stream().map(prompt -> prepared(prompt, model)).toList();
    }

    private static PreparedPrompt prepared(CompletionRequest.Prompt prompt, ModelText model) {
      var tokens = prompt.tokens();
      if (tokens != null) {
        return new PreparedPrompt(tokens, null, false);
      }
      var text = Objects.requireNonNull(prompt.text()).replace("\0", "");
      return new PreparedPrompt(model.encode(text), text, false);
    }

    @Override
    public int prompts() {
      return request.prompts().size();
    }

    @Override
    public int texts() {
      return request.bestOf();
    }

    @Override
    public boolean echo() {
      return request.echo();
    }

    @Override
    public AnswerFormat answerFormat(
        String requestId, long createdSeconds, String model, String reasoningField) {
      return new CompletionAnswer(requestId, createdSeconds, model);
    }

    @Override
    public AnswerFormat recordFormat(
        String requestId, long createdSeconds, String model, String reasoningField) {
      return answerFormat(requestId, createdSeconds, model, reasoningField);
    }
  }
}
