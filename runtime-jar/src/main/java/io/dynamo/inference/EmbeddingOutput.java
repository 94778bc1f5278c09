package io.dynamo.inference;

import java.util.List;

/**
 * A worker's answer to an {@link EmbeddingRequest}.
 *
 * @param vectors one for each prompt, in their order; owned by the record and never changed
 * @param promptTokens as the worker counts them; 0 when it does not say
 */
public record EmbeddingOutput(List<float[]> vectors, int promptTokens) {
  public EmbeddingOutput {
    vectors = List.copyOf(vectors);
  }
}
