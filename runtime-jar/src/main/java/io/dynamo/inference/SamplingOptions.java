package io.dynamo.inference;

import org.jspecify.annotations.Nullable;

/** How the next token is drawn; what is null is left to the worker. */
public record SamplingOptions(
    @Nullable Integer n,
    @Nullable Float temperature,
    @Nullable Float topP,
    @Nullable Integer topK,
    @Nullable Float minP,
    @Nullable Float frequencyPenalty,
    @Nullable Float presencePenalty,
    @Nullable Float repetitionPenalty,
    @Nullable Long seed) {
  /** Everything left to the worker. */
  public static final SamplingOptions DEFAULTS =
      new SamplingOptions(null, null, null, null, null, null, null, null, null);
}
