package io.dynamo.inference;

import org.jspecify.annotations.Nullable;

/**
 * Tokens counted.
 *
 * @param cachedTokens prompt tokens that were found in the KV cache, null when the worker does not
 *     tell
 * @param reasoningTokens generated tokens that were thoughts, null when nobody looked for them
 */
public record Usage(
    int promptTokens,
    int completionTokens,
    @Nullable Integer cachedTokens,
    @Nullable Integer reasoningTokens) {
  /** As a worker counts, that knows nothing of thoughts. */
  public Usage(int promptTokens, int completionTokens, @Nullable Integer cachedTokens) {
    this(promptTokens, completionTokens, cachedTokens, null);
  }

  public int totalTokens() {
    return promptTokens + completionTokens;
  }
}
