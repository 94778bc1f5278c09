package io.dynamo.inference;

import org.jspecify.annotations.Nullable;

/**
 * One item of a worker's answer: Dynamo's {@code LLMEngineOutput}. At most one item has a finish
 * reason, and it is the last.
 *
 * @param tokenIds only what is new; owned by the record, never changed
 * @param text the text when the worker detokenised itself; null lets the frontend do it
 * @param errorMessage what went wrong when {@code finishReason} is {@link FinishReason#ERROR}
 * @param index which of {@code n} choices
 * @param usage counts, usually on the first and the last item
 * @param logprobs only when asked for
 * @param stopReason which stop of the client's was met, when the worker matched it
 * @param passedOn the engine's own fields, such as {@code disaggregated_params} of a prefill worker
 * @param annotation what the item is instead of tokens; null for an item with tokens
 */
public record EngineOutput(
    int[] tokenIds,
    @Nullable String text,
    @Nullable FinishReason finishReason,
    @Nullable String errorMessage,
    int index,
    @Nullable Usage usage,
    @Nullable Logprobs logprobs,
    @Nullable StopReason stopReason,
    PassedOn passedOn,
    @Nullable Annotation annotation) {
  private static final int[] NO_TOKENS = {};

  /** An item of an engine. */
  public EngineOutput(
      int[] tokenIds,
      @Nullable String text,
      @Nullable FinishReason finishReason,
      @Nullable String errorMessage,
      int index,
      @Nullable Usage usage,
      @Nullable Logprobs logprobs,
      @Nullable StopReason stopReason,
      PassedOn passedOn) {
    this(
        tokenIds,
        text,
        finishReason,
        errorMessage,
        index,
        usage,
        logprobs,
        stopReason,
        passedOn,
        null);
  }

  /** An item as most are. */
  public EngineOutput(
      int[] tokenIds,
      @Nullable String text,
      @Nullable FinishReason finishReason,
      @Nullable String errorMessage,
      int index,
      @Nullable Usage usage) {
    this(tokenIds, text, finishReason, errorMessage, index, usage, null, null, PassedOn.NONE);
  }

  /** An item with tokens and nothing else. */
  public static EngineOutput ofTokens(int... tokenIds) {
    return new EngineOutput(tokenIds, null, null, null, 0, null);
  }

  /** The last item. */
  public static EngineOutput finish(FinishReason reason, @Nullable Usage usage, int... tokenIds) {
    return new EngineOutput(tokenIds, null, reason, null, 0, usage);
  }

  /** An item that tells the client something beside the tokens. */
  public static EngineOutput annotated(Annotation annotation) {
    return new EngineOutput(
        NO_TOKENS, null, null, null, 0, null, null, null, PassedOn.NONE, annotation);
  }

  /** The same item with other counts. */
  public EngineOutput withUsage(Usage counts) {
    return new EngineOutput(
        tokenIds,
        text,
        finishReason,
        errorMessage,
        index,
        counts,
        logprobs,
        stopReason,
        passedOn,
        annotation);
  }
}
