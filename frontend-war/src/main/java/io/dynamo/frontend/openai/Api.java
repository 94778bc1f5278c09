package io.dynamo.frontend.openai;

import com.fasterxml.jackson.databind.JsonNode;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.ErrorFormat;
import io.dynamo.frontend.admission.JsonCost;
import io.dynamo.frontend.admission.RequestBody;
import io.dynamo.frontend.media.MediaPart;
import io.dynamo.frontend.openai.wire.AnswerFormat;
import io.dynamo.frontend.openai.wire.GenerationFields;
import io.dynamo.frontend.openai.wire.JsonBody;
import io.dynamo.frontend.postprocess.MessageOptions;
import io.dynamo.frontend.preprocess.ModelText;
import io.dynamo.model.ModelCard;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * An API that answers with generated text: reads its requests and writes its answers. {@link
 * TextService} does the rest.
 */
sealed interface Api
    permits ChatApi,
        CompletionApi,
        DetokenizeApi,
        EmbeddingsApi,
        KserveApi,
        MessagesApi,
        NativeApi,
        ResponsesApi,
        TaskApi,
        TensorApi,
        TokenizeApi {
  /** Dynamo's label in metrics. */
  String endpoint();

  /**
   * The model types on cards of models that serve this API, of which one suffices; empty for any.
   */
  Set<String> modelTypes();

  /** The request's field that holds the prompt. */
  String promptField();

  /** Whether its requests and answers may be recorded with their texts. */
  default boolean isRecorded() {
    return false;
  }

  /**
   * Whether its requests ask about prompts and generate nothing; such a prompt may be longer than
   * the model takes.
   */
  default boolean asksForPromptOnly() {
    return false;
  }

  /**
   * Chooses the model of a request that names none.
   *
   * @param able the names of the models that could take it, in the order of their listing
   * @return null when requests must name one
   * @throws io.dynamo.frontend.ApiException when there is none to choose
   */
  default @Nullable String modelIfOmitted(List<String> able) {
    return null;
  }

  /** Whether its workers take the bodies of clients' requests as they are. */
  default boolean takesBodies() {
    return false;
  }

  /** Whether the request asks for a stream; other fields may be invalid. */
  default boolean asksForStream(JsonNode body) {
    return JsonBody.asksForStream(body);
  }

  /**
   * Refuses requests whose body has another type.
   *
   * @throws io.dynamo.frontend.ApiException with 415
   */
  default void checkContentType(@Nullable String contentType) {
    JsonBody.checkContentType(contentType);
  }

  /**
   * Parses a body.
   *
   * @throws io.dynamo.frontend.ApiException with 400
   */
  default JsonNode parse(@Nullable String contentType, byte[] body) {
    return JsonBody.parse(body);
  }

  /** The form of its error answers. */
  default ErrorFormat errors() {
    return ErrorFormat.OPENAI;
  }

  /**
   * Estimates the memory that {@link #parse} takes.
   *
   * @throws io.dynamo.frontend.ApiException with 400 when it could not be parsed
   */
  default JsonCost cost(@Nullable String contentType, RequestBody body) {
    return body.jsonCost();
  }

  /** Whether a top-level field is one of the API's. */
  boolean knows(String field);

  /**
   * Reads and checks a body.
   *
   * @throws io.dynamo.frontend.ApiException with 400 or 501
   */
  ParsedRequest read(JsonNode body);

  /**
   * Reads and checks a body that came with headers.
   *
   * @param headers by lower-case name
   * @param id of the request
   * @throws io.dynamo.frontend.ApiException with 400 or 501
   */
  default ParsedRequest read(JsonNode body, Map<String, String> headers, String id) {
    return read(body);
  }

  /**
   * The request for workers that take whole bodies, of an API whose own workers take token ids.
   *
   * @param body from which {@code read} was made
   * @throws io.dynamo.frontend.ApiException with 501 when bodies of this API are not passed on
   */
  default ParsedRequest relayed(JsonNode body, ParsedRequest read, ModelCard card) {
    if (asksForPromptOnly()) {
      return read.forModel(card); // there is no tokenizer that could answer
    }
    throw new ApiException(
        new ApiError(
            501,
            "the workers of model `%s` take whole requests (model_input Text): /v1/chat/completions and /v1/completions are passed on to them, the API `%s` is not"
                .formatted(ApiError.shown(card.displayName()), endpoint()),
            "unsupported_api",
            "model",
            null));
  }

  /** The checked content of one request. */
  interface ParsedRequest {
    GenerationFields fields();

    /** A copy with other fields. */
    ParsedRequest with(GenerationFields fields);

    /** A copy with the defaults that depend on the model. */
    default ParsedRequest forModel(ModelCard card) {
      return this;
    }

    /**
     * Returns about how many bytes of heap {@link #promptAnswer} needs beside the request; 0 where
     * that is little.
     *
     * @throws io.dynamo.frontend.ApiException with 400 when the answer would be too long
     */
    default long promptAnswerBytes(ModelText model, List<PreparedPrompt> prompts) {
      return 0;
    }

    /**
     * The answer to a request about its prompts alone, as UTF-8 JSON; null when texts are
     * generated.
     */
    default byte @Nullable [] promptAnswer(ModelText model, List<PreparedPrompt> prompts) {
      return null;
    }

    /**
     * The embeddings that are asked for; null when texts are generated.
     *
     * @param model as its workers know it
     * @param cardChecksum of the model's card
     */
    default @Nullable EmbeddingWish embeddings(
        String model, @Nullable String cardChecksum, List<PreparedPrompt> prompts) {
      return null;
    }

    /** The task that is asked for; null when texts are generated. */
    default @Nullable TaskWish task() {
      return null;
    }

    /** The texts that a worker without token ids is asked for; null when there is none. */
    default @Nullable RelayWish relay() {
      return null;
    }

    /** The tensors that are asked for; null when texts are generated. */
    default @Nullable TensorWish tensors() {
      return null;
    }

    /**
     * The prompts as tokens, at least one. Runs on a thread for native work.
     *
     * @param hideTools whether the template sees no tools that must not be called
     * @throws io.dynamo.error.InvalidRequestException when the template refuses
     */
    List<PreparedPrompt> prepare(ModelText model, boolean hideTools);

    /** The arguments of the prompt's template beside the conversation, values as in JSON. */
    default Map<String, Object> templateArgs() {
      return Map.of();
    }

    /** The number of prompts. */
    default int prompts() {
      return 1;
    }

    /**
     * The number of texts to generate for each prompt. When it exceeds the number of choices, the
     * likeliest are returned.
     */
    default int texts() {
      return fields().choices();
    }

    /** Whether the answer repeats the prompt before the text. */
    default boolean echo() {
      return false;
    }

    /** Further entries of the worker's {@code extra_args}. */
    default Map<String, Object> extraArgs(PreparedPrompt prompt) {
      return Map.of();
    }

    /** Further top-level fields of the worker's request, by name. */
    default Map<String, Object> passedOn() {
      return Map.of();
    }

    /** The media of its prompt, in their order. */
    default List<MediaPart> media() {
      return List.of();
    }

    /** The kind of the conversation's last message, {@code user_message} for example. */
    default String trigger() {
      return "other";
    }

    /** The options of the answer's message; null for an API without messages. */
    default @Nullable MessageOptions message() {
      return null;
    }

    /**
     * Creates the writer of the answer.
     *
     * @param reasoningField the name of the field for a message's thoughts
     */
    AnswerFormat answerFormat(
        String requestId, long createdSeconds, String model, String reasoningField);

    /**
     * Creates a writer of the same answer for a record, without any other effect; null where
     * answers are not recorded.
     */
    default @Nullable AnswerFormat recordFormat(
        String requestId, long createdSeconds, String model, String reasoningField) {
      return null;
    }
  }
}
