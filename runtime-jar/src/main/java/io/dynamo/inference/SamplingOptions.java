package io.dynamo.inference;

import org.jspecify.annotations.Nullable;

/**
 * How the next token is drawn; what is null is left to the worker.
 *
 * @param includeStop whether a matched stop string is part of the text
 * @param passedOn options for engines that know beams
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
  /** Everything left to the worker. */
  public static final SamplingOptions DEFAULTS =
      new SamplingOptions(null, null, null, null, null, null, null, null, null);

  /** Text of any form, without its stop string. */
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

  /** The same options with another seed. */
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

  /** The same options, saying whether the stop string is part of the text. */
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
