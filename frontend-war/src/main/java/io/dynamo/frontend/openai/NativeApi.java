package io.dynamo.frontend.openai;

import com.fasterxml.jackson.databind.JsonNode;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.openai.wire.AnswerFormat;
import io.dynamo.frontend.openai.wire.GenerationFields;
import io.dynamo.frontend.openai.wire.NativeRequest;
import io.dynamo.frontend.openai.wire.SglangGenerateAnswer;
import io.dynamo.frontend.openai.wire.SglangGenerateReader;
import io.dynamo.frontend.openai.wire.VllmGenerateAnswer;
import io.dynamo.frontend.openai.wire.VllmGenerateReader;
import io.dynamo.frontend.preprocess.ModelText;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.model.ModelCard;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** The native APIs of engines: token ids in, token ids out, whichever engine does it. */
final class NativeApi implements Api {
  private final Engine engine;

  /** The engines whose form is read and written. */
  enum Engine {
    VLLM(
        "vLLM",
        "vllm_generate",
        "token_ids",
        "vllm_inference_v1_generate",
        GenerateRequest.VLLM_REQUEST),
    SGLANG(
        "SGLang",
        "sglang_generate",
        "input_ids",
        "sglang_generate",
        GenerateRequest.SGLANG_REQUEST);

    private final String title;
    private final String endpoint;
    private final String promptField;
    private final String flag; // of cards whose workers take the engine's own requests
    private final String argument; // of such requests to workers

    Engine(String title, String endpoint, String promptField, String flag, String argument) {
      this.title = title;
      this.endpoint = endpoint;
      this.promptField = promptField;
      this.flag = flag;
      this.argument = argument;
    }

    private NativeRequest read(JsonNode body) {
      return switch (this) {
        case VLLM -> VllmGenerateReader.read(body);
        case SGLANG -> SglangGenerateReader.read(body);
      };
    }

    private boolean takesOwnRequests(ModelCard card) {
      return card.runtimeConfig().get("runtime_data") instanceof Map<?, ?> data
          && Boolean.TRUE.equals(data.get(flag));
    }

    private AnswerFormat answer(String id) {
      return switch (this) {
        case VLLM -> new VllmGenerateAnswer(id);
        case SGLANG -> new SglangGenerateAnswer(id);
      };
    }
  }

  NativeApi(Engine engine) {
    this.engine = engine;
  }

  @Override
  public boolean isRecorded() {
    return true;
  }

  @Override
  public String endpoint() {
    return engine.endpoint;
  }

  @Override
  public Set<String> modelTypes() {
    return Set.of("Chat", "Completions");
  }

  @Override
  public String promptField() {
    return engine.promptField;
  }

  @Override
  public String modelIfOmitted(List<String> able) {
    return OmittedModel.only(able);
  }

  /** {@inheritDoc} Which fields an engine has is decided when the model is known. */
  @Override
  public boolean knows(String field) {
    return true;
  }

  @Override
  public ParsedRequest read(JsonNode body) {
    return new Parsed(engine, engine.read(body), false);
  }

  @Override
  public ParsedRequest read(JsonNode body, Map<String, String> headers, String id) {
    var request = engine.read(body);
    var given = headers.get(CallHeaders.CLIENT_ID);
    boolean inner = request.requestId() != null;
    if (given != null
        && given.length() <= NativeRequest.MAX_ID
        && (engine == Engine.VLLM || !inner)) {
      request = request.named(given);
    } else if (!inner) {
      request = request.named(id);
    }
    return new Parsed(engine, request, false);
  }

  /**
   * @param own whether the workers take the engine's own requests
   */
  private record Parsed(Engine engine, NativeRequest request, boolean own)
      implements ParsedRequest {
    @Override
    public GenerationFields fields() {
      return request.fields();
    }

    @Override
    public ParsedRequest with(GenerationFields fields) {
      return new Parsed(engine, request.with(fields), own);
    }

    @Override
    public ParsedRequest forModel(ModelCard card) {
      boolean taken = engine.takesOwnRequests(card);
      if (!taken) {
        request.refuseEngineFields(engine.title);
      } else if (engine == Engine.SGLANG && !fields().stream().events()) {
        throw new ApiException(
            ApiError.of(
                501,
                "the workers of this model answer SGLang's requests in parts only; set"
                    + " stream=true"));
      } else if (fields().choices() > 1) {
        throw new ApiException(
            ApiError.of(
                400,
                "the workers of this model take %s's own requests, and those for one choice only;"
                        .formatted(engine.title)
                    + " set sampling_params.n to 1"));
      }
      return new Parsed(engine, request, taken);
    }

    @Override
    public List<PreparedPrompt> prepare(ModelText model, boolean hideTools) {
      var tokens = request.tokens();
      if (tokens != null) {
        return List.of(new PreparedPrompt(tokens, null, false));
      }
      var text = Objects.requireNonNull(request.text()).replace("\0", "");
      return List.of(new PreparedPrompt(model.encode(text), text, false));
    }

    @Override
    public Map<String, Object> extraArgs(PreparedPrompt prompt) {
      return own ? Map.of(engine.argument, request.envelope()) : Map.of();
    }

    @Override
    public AnswerFormat answerFormat(
        String requestId, long createdSeconds, String model, String reasoningField) {
      var id = request.requestId();
      return engine.answer(id == null ? requestId : id);
    }

    @Override
    public AnswerFormat recordFormat(
        String requestId, long createdSeconds, String model, String reasoningField) {
      return answerFormat(requestId, createdSeconds, model, reasoningField);
    }
  }
}
