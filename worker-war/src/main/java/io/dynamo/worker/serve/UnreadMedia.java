package io.dynamo.worker.serve;

import io.dynamo.config.worker.EngineKind;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.inference.GenerateRequest;
import java.util.Locale;
import java.util.function.UnaryOperator;

/**
 * Refuses requests with media for engines that get tokens alone: the model would answer without
 * having seen the picture. Stateless.
 */
public final class UnreadMedia {
  private static final String MEDIA = "multi_modal_data";

  private UnreadMedia() {}

  /** Returns {@code entry}, with a refusal before it unless the engine only pretends to read. */
  public static UnaryOperator<GenerateRequest> refusedBy(
      EngineKind engine, UnaryOperator<GenerateRequest> entry) {
    return switch (engine) {
      case MOCK, ECHO -> entry;
      case LLAMA, LLAMACPP, VLLM, SGLANG, TRTLLM, OPENAI ->
          request -> entry.apply(checked(engine, request));
    };
  }

  private static GenerateRequest checked(EngineKind engine, GenerateRequest request) {
    if (request.passedOn().get(MEDIA) != null) {
      throw new InvalidRequestException(
          "this worker's engine `%s` gets tokens alone and reads no images, videos or sounds; leave them out, or ask a model whose workers read them"
              .formatted(engine.name().toLowerCase(Locale.ROOT)));
    }
    return request;
  }
}
