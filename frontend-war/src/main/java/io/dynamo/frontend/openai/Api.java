package io.dynamo.frontend.openai;

import com.fasterxml.jackson.databind.JsonNode;
import io.dynamo.frontend.openai.wire.AnswerFormat;
import io.dynamo.frontend.openai.wire.GenerationFields;
import io.dynamo.frontend.postprocess.MessageOptions;
import io.dynamo.frontend.preprocess.ModelText;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An API that answers with generated text: how its requests are read and its answers written. What
 * lies between is {@link TextService}'s.
 */
sealed interface Api permits ChatApi, CompletionApi {
  /** Dynamo's label in metrics. */
  String endpoint();

  /** The flag of a model card that says that the model has this API. */
  String modelType();

  /** The request's field that holds the prompt. */
  String promptField();

  /** Whether a top-level field is one of the API's. */
  boolean knows(String field);

  /**
   * Reads and checks a body.
   *
   * @throws io.dynamo.frontend.ApiException with 400 or 501
   */
  ParsedRequest read(JsonNode body);

  /** The checked content of one request. */
  interface ParsedRequest {
    GenerationFields fields();

    /** The same with other fields. */
    ParsedRequest with(GenerationFields fields);

    /**
     * The prompts as tokens, at least one. Runs on a thread for native work.
     *
     * @param hideTools whether the template sees no tools that must not be called
     * @throws io.dynamo.error.InvalidRequestException when the template refuses
     */
    List<PreparedPrompt> prepare(ModelText model, boolean hideTools);

    /** How many prompts there are. */
    default int prompts() {
      return 1;
    }

    /**
     * Texts to make of each prompt; those beyond the number of choices are the less likely ones.
     */
    default int texts() {
      return fields().choices();
    }

    /** Whether the prompt comes back before the text. */
    default boolean echo() {
      return false;
    }

    /** What else goes into the worker's {@code extra_args}. */
    default Map<String, Object> extraArgs(PreparedPrompt prompt) {
      return Map.of();
    }

    /** What else the worker is told, by name. */
    default Map<String, Object> passedOn() {
      return Map.of();
    }

    /** What is said of the last thing the model was told: {@code user_message}, for example. */
    default String trigger() {
      return "other";
    }

    /** What is said of the messages that are wanted; null where the text is the answer. */
    default @Nullable MessageOptions message() {
      return null;
    }

    /**
     * Writes the answer.
     *
     * @param reasoningField what a message's thoughts are called
     */
    AnswerFormat answerFormat(
        String requestId, long createdSeconds, String model, String reasoningField);
  }
}
