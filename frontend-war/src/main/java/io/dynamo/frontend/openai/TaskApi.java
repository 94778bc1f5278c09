package io.dynamo.frontend.openai;

import com.fasterxml.jackson.databind.JsonNode;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.admission.JsonCost;
import io.dynamo.frontend.admission.RequestBody;
import io.dynamo.frontend.openai.wire.AnswerFormat;
import io.dynamo.frontend.openai.wire.GenerationFields;
import io.dynamo.frontend.openai.wire.ImageForm;
import io.dynamo.frontend.openai.wire.TaskRequest;
import io.dynamo.frontend.preprocess.ModelText;
import io.dynamo.inference.BodyTask;
import io.dynamo.model.ModelCard;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reranking, classification, pooling, images, videos and speech: the worker gets the body and gives
 * the answer.
 */
final class TaskApi implements Api {
  private static final PreparedPrompt NO_PROMPT = new PreparedPrompt(new int[0], null, false);

  private static final String DEFAULT_IMAGES = "diffusion"; // Dynamo's

  private final TaskRequest.Kind kind;

  TaskApi(TaskRequest.Kind kind) {
    this.kind = kind;
  }

  @Override
  public String endpoint() {
    return kind.endpoint();
  }

  @Override
  public Set<String> modelTypes() {
    return Set.of(kind.modelType());
  }

  @Override
  public String promptField() {
    return kind.promptField();
  }

  @Override
  public boolean asksForPromptOnly() {
    return true; // no text is generated, and there are no tokens here that could be too many
  }

  @Override
  public boolean takesBodies() {
    return true;
  }

  @Override
  public @Nullable String modelIfOmitted(List<String> able) {
    return switch (kind) {
      case IMAGES, IMAGE_EDITS -> DEFAULT_IMAGES;
      case SPEECH -> OmittedModel.first(able);
      case RERANK, CLASSIFY, POOLING, VIDEOS, VIDEO_FRAMES -> null;
    };
  }

  @Override
  public boolean asksForStream(JsonNode body) {
    return kind.asksForStream(body);
  }

  @Override
  public void checkContentType(@Nullable String contentType) {
    if (kind != TaskRequest.Kind.IMAGE_EDITS || !ImageForm.isForm(contentType)) {
      Api.super.checkContentType(contentType);
    }
  }

  @Override
  public JsonNode parse(@Nullable String contentType, byte[] body) {
    return kind == TaskRequest.Kind.IMAGE_EDITS && ImageForm.isForm(contentType)
        ? ImageForm.read(contentType, body)
        : Api.super.parse(contentType, body);
  }

  @Override
  public JsonCost cost(@Nullable String contentType, RequestBody body) {
    return kind == TaskRequest.Kind.IMAGE_EDITS && ImageForm.isForm(contentType)
        ? ImageForm.cost(contentType, body)
        : Api.super.cost(contentType, body);
  }

  @Override
  public boolean knows(String field) {
    return kind.names().contains(field);
  }

  @Override
  public ParsedRequest read(JsonNode body) {
    return new Parsed(TaskRequest.read(kind, body));
  }

  private record Parsed(TaskRequest request) implements ParsedRequest {
    @Override
    public GenerationFields fields() {
      return request.fields();
    }

    @Override
    public ParsedRequest with(GenerationFields fields) {
      return new Parsed(new TaskRequest(request.kind(), fields, request.body()));
    }

    @Override
    public ParsedRequest forModel(ModelCard card) {
      if (!card.takesBodies()) {
        throw new ApiException(ApiError.modelNotFound(card.displayName()));
      }
      return this;
    }

    @Override
    public List<PreparedPrompt> prepare(ModelText model, boolean hideTools) {
      return List.of(NO_PROMPT);
    }

    @Override
    public TaskWish task() {
      return new TaskWish(request, new BodyTask(request.body()));
    }

    @Override
    public AnswerFormat answerFormat(
        String requestId, long createdSeconds, String model, String reasoningField) {
      throw new IllegalStateException("no text is generated");
    }
  }
}
