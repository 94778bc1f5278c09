package io.dynamo.inference;

import org.jspecify.annotations.Nullable;

/**
 * One item of a worker's answer: Dynamo's {@code LLMEngineOutput}. At most one item has a finish
 * reason, and it is the last.
 *
 * @param tokenIds the new tokens only; owned by the record, never changed
 * @param text the text when the worker detokenised itself; null leaves that to the frontend
 * @param errorMessage the reason when {@code finishReason} is {@link FinishReason#ERROR}
 * @param index which of {@code n} choices
 * @param usage counts, usually on the first and the last item
 * @param logprobs present only when requested
 * @param stopReason the client's stop that was matched, when the worker matched it
 * @param passedOn the engine's own fields, such as {@code disaggregated_params} of a prefill worker
 * @param annotation the content of an item without tokens; null for an item with tokens
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

  /** Creates an item of an engine. */
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

  /** Creates an item with the common fields only. */
  public EngineOutput(
      int[] tokenIds,
      @Nullable String text,
      @Nullable FinishReason finishReason,
      @Nullable String errorMessage,
      int index,
      @Nullable Usage usage) {
    this(tokenIds, text, finishReason, errorMessage, index, usage, null, null, PassedOn.NONE);
  }

  /** Creates an item with tokens only. */
  public static EngineOutput ofTokens(int... tokenIds) {
    return new EngineOutput(tokenIds, null, null, null, 0, null);
  }

  /** Creates the last item of an answer. */
  public static EngineOutput finish(FinishReason reason, @Nullable Usage usage, int... tokenIds) {
    return new EngineOutput(tokenIds, null, reason, null, 0, usage);
  }

  /** Creates an item that carries an annotation for the client. */
  public static EngineOutput annotated(Annotation annotation) {
    return new EngineOutput(
        NO_TOKENS, null, null, null, 0, null, null, null, PassedOn.NONE, annotation);
  }

  /** Returns the same item with other fields of the engine. */
  public EngineOutput withPassedOn(PassedOn fields) {
    return new EngineOutput(
        tokenIds,
        text,
        finishReason,
        errorMessage,
        index,
        usage,
        logprobs,
        stopReason,
        fields,
        annotation);
  }

  /** Returns the same item with other counts. */
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
