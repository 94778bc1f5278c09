package io.dynamo.inference;

import org.jspecify.annotations.Nullable;

/**
 * The token counts of a request.
 *
 * @param cachedTokens prompt tokens found in the KV cache, null when the worker does not report
 *     them
 * @param reasoningTokens generated tokens of reasoning, null when they were not counted
 */
public record Usage(
    int promptTokens,
    int completionTokens,
    @Nullable Integer cachedTokens,
    @Nullable Integer reasoningTokens) {
  /** Creates the counts of a worker that does not count reasoning. */
  public Usage(int promptTokens, int completionTokens, @Nullable Integer cachedTokens) {
    this(promptTokens, completionTokens, cachedTokens, null);
  }

  public int totalTokens() {
    return promptTokens + completionTokens;
  }
}
