package io.dynamo.frontend.openai.wire;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import java.util.Base64;

/**
 * Prompts given as embeddings. They are checked as Dynamo checks them and then refused: a
 * generation that moves to another worker could not be continued.
 */
final class PromptEmbeds {
  private static final int MIN_BYTES = 100;
  private static final int MAX_BYTES = 10 << 20;

  private PromptEmbeds() {}

  static void refuse(String base64) {
    int bytes;
    try {
      bytes = Base64.getDecoder().decode(base64).length;
    } catch (IllegalArgumentException e) {
      throw GenerationReader.refuse(
          "prompt_embeds", "prompt_embeds must be valid base64-encoded data");
    }
    if (bytes < MIN_BYTES) {
      throw GenerationReader.refuse(
          "prompt_embeds",
          "prompt_embeds decoded data must be at least %d bytes, got %d bytes"
              .formatted(MIN_BYTES, bytes));
    }
    if (bytes > MAX_BYTES) {
      throw GenerationReader.refuse(
          "prompt_embeds",
          "prompt_embeds decoded data must not exceed %d bytes, got %d bytes"
              .formatted(MAX_BYTES, bytes));
    }
    throw new ApiException(
        new ApiError(
            501,
            "Validation: `prompt_embeds` is not supported; send the prompt as text or token ids",
            null,
            "prompt_embeds",
            null));
  }
}
