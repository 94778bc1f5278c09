package io.dynamo.frontend.openai;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.POJONode;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.admission.JsonCost;
import io.dynamo.frontend.admission.RequestBody;
import io.dynamo.frontend.kserve.CardTensors;
import io.dynamo.frontend.kserve.InferRequest;
import io.dynamo.frontend.kserve.TensorInputs;
import io.dynamo.frontend.openai.wire.AnswerFormat;
import io.dynamo.frontend.openai.wire.GenerationFields;
import io.dynamo.frontend.openai.wire.KserveForm;
import io.dynamo.frontend.preprocess.ModelText;
import io.dynamo.model.ModelCard;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** KServe's inference protocol, for models whose workers take tensors as they are. */
record TensorApi(KserveForm form) implements Api {
  private static final PreparedPrompt NO_PROMPT = new PreparedPrompt(new int[0], null, false);
  private static final String MODEL = "model";
  private static final String STREAM = "stream";

  /** The request itself: its tensors have no form as JSON, to which an operator's rules apply. */
  private static final String REQUEST = "request";

  @Override
  public String endpoint() {
    return "tensor";
  }

  @Override
  public Set<String> modelTypes() {
    return Set.of("TensorBased");
  }

  @Override
  public String promptField() {
    return "inputs";
  }

  @Override
  public boolean asksForPromptOnly() {
    return true; // no text is generated, and there are no tokens here that could be too many
  }

  @Override
  public void checkContentType(@Nullable String type) {
    form.checkContentType(type);
  }

  @Override
  public JsonCost cost(@Nullable String contentType, RequestBody body) {
    return form.costOfTensors(body);
  }

  @Override
  public JsonNode parse(@Nullable String contentType, byte[] body) {
    var request = form.read(body);
    request.requireModel();
    TensorInputs.check(request);
    var tree = JsonNodeFactory.instance.objectNode();
    tree.put(MODEL, request.model());
    tree.put(STREAM, form.mayStream());
    tree.set(REQUEST, JsonNodeFactory.instance.pojoNode(request));
    return tree;
  }

  @Override
  public boolean knows(String field) {
    return field.equals(MODEL) || field.equals(STREAM) || field.equals(REQUEST);
  }

  @Override
  public ParsedRequest read(JsonNode body) {
    if (body.get(REQUEST) instanceof POJONode node && node.getPojo() instanceof InferRequest it) {
      return new Parsed(form, GenerationFields.ofModel(it.model()), it);
    }
    throw new IllegalStateException("the request has been lost on its way");
  }

  private record Parsed(KserveForm form, GenerationFields fields, InferRequest request)
      implements ParsedRequest {
    @Override
    public ParsedRequest with(GenerationFields other) {
      return new Parsed(form, other, request);
    }

    @Override
    public ParsedRequest forModel(ModelCard card) {
      if (!card.takesTensors()) {
        throw new ApiException(ApiError.modelNotFound(card.displayName()));
      }
      CardTensors.of(card).ifPresent(model -> TensorInputs.check(request, model));
      return this;
    }

    @Override
    public List<PreparedPrompt> prepare(ModelText model, boolean hideTools) {
      return List.of(NO_PROMPT);
    }

    @Override
    public TensorWish tensors() {
      return new TensorWish(form, request);
    }

    @Override
    public AnswerFormat answerFormat(
        String requestId, long createdSeconds, String model, String reasoningField) {
      throw new IllegalStateException("no text is generated");
    }
  }
}
