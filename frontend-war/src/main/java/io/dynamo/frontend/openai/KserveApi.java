package io.dynamo.frontend.openai;

import com.fasterxml.jackson.databind.JsonNode;
import io.dynamo.frontend.admission.JsonCost;
import io.dynamo.frontend.admission.RequestBody;
import io.dynamo.frontend.openai.wire.AnswerFormat;
import io.dynamo.frontend.openai.wire.GenerationFields;
import io.dynamo.frontend.openai.wire.KserveForm;
import io.dynamo.frontend.openai.wire.KserveReader;
import io.dynamo.frontend.openai.wire.KserveRequest;
import io.dynamo.frontend.preprocess.ModelText;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * KServe's inference protocol, for models that continue texts: a prompt as it is, without a
 * template, and texts as tensors.
 */
record KserveApi(KserveForm form) implements Api {
  /** {@inheritDoc} Dynamo counts these requests among completions. */
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
    return "text_input";
  }

  @Override
  public void checkContentType(@Nullable String type) {
    form.checkContentType(type);
  }

  @Override
  public JsonCost cost(@Nullable String contentType, RequestBody body) {
    return form.cost(body);
  }

  @Override
  public JsonNode parse(@Nullable String contentType, byte[] body) {
    return KserveReader.tree(form.read(body), form.mayStream());
  }

  @Override
  public boolean knows(String field) {
    return KserveReader.knows(field);
  }

  @Override
  public ParsedRequest read(JsonNode body) {
    return new Parsed(form, KserveReader.read(body));
  }

  private record Parsed(KserveForm form, KserveRequest request) implements ParsedRequest {
    @Override
    public GenerationFields fields() {
      return request.fields();
    }

    @Override
    public ParsedRequest with(GenerationFields fields) {
      return new Parsed(form, request.with(fields));
    }

    @Override
    public List<PreparedPrompt> prepare(ModelText model, boolean hideTools) {
      var text = request.prompt().replace("\0", "");
      return List.of(new PreparedPrompt(model.encode(text), text, false));
    }

    @Override
    public AnswerFormat answerFormat(
        String requestId, long createdSeconds, String model, String reasoningField) {
      return form.answer(request, model);
    }
  }
}
