package io.dynamo.inference;

import org.jspecify.annotations.Nullable;

/**
 * The parameters for drawing the next token; a null one is left to the worker.
 *
 * @param includeStop whether a matched stop string is part of the text
 * @param passedOn options for engines with beam search
 */
public record SamplingOptions(
    @Nullable Integer n,
    @Nullable Float temperature,
    @Nullable Float topP,
    @Nullable Integer topK,
    @Nullable Float minP,
    @Nullable Float frequencyPenalty,
    @Nullable Float presencePenalty,
    @Nullable Float repetitionPenalty,
    @Nullable Long seed,
    @Nullable Boolean includeStop,
    @Nullable GuidedDecoding guided,
    PassedOn passedOn) {
  /** The options that leave everything to the worker. */
  public static final SamplingOptions DEFAULTS =
      new SamplingOptions(null, null, null, null, null, null, null, null, null);

  /** Options for text of any form, without its stop string. */
  public SamplingOptions(
      @Nullable Integer n,
      @Nullable Float temperature,
      @Nullable Float topP,
      @Nullable Integer topK,
      @Nullable Float minP,
      @Nullable Float frequencyPenalty,
      @Nullable Float presencePenalty,
      @Nullable Float repetitionPenalty,
      @Nullable Long seed) {
    this(
        n,
        temperature,
        topP,
        topK,
        minP,
        frequencyPenalty,
        presencePenalty,
        repetitionPenalty,
        seed,
        null,
        null,
        PassedOn.NONE);
  }

  /** A copy with another form that the text must have. */
  public SamplingOptions withGuided(GuidedDecoding form) {
    return new SamplingOptions(
        n,
        temperature,
        topP,
        topK,
        minP,
        frequencyPenalty,
        presencePenalty,
        repetitionPenalty,
        seed,
        includeStop,
        form,
        passedOn);
  }

  /** Returns the same options with another seed. */
  public SamplingOptions withSeed(long other) {
    return new SamplingOptions(
        n,
        temperature,
        topP,
        topK,
        minP,
        frequencyPenalty,
        presencePenalty,
        repetitionPenalty,
        other,
        includeStop,
        guided,
        passedOn);
  }

  /** Returns the same options with {@code includeStop} set. */
  public SamplingOptions withIncludeStop(@Nullable Boolean include) {
    return new SamplingOptions(
        n,
        temperature,
        topP,
        topK,
        minP,
        frequencyPenalty,
        presencePenalty,
        repetitionPenalty,
        seed,
        include,
        guided,
        passedOn);
  }
}
