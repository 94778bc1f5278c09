package io.dynamo.inference;

import org.jspecify.annotations.Nullable;

/**
 * Tokens counted by a worker.
 *
 * @param cachedTokens prompt tokens that were found in the KV cache, null when the worker does not
 *     tell
 */
public record Usage(int promptTokens, int completionTokens, @Nullable Integer cachedTokens) {
  public int totalTokens() {
    return promptTokens + completionTokens;
  }
}
