package io.dynamo.inference;

import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The conditions that end a generation. Stop strings are matched by the frontend, which has the
 * text; ids and the budget by the worker.
 *
 * @param maxTokens limit of generated tokens; null leaves it to the worker
 * @param stopTokenIds ids set by the client that end the generation and whose text is dropped
 * @param visibleStopTokenIds ids that end the generation and whose text is kept
 * @param hiddenStopTokenIds ids of the model that end the generation and whose text is dropped
 * @param minTokens tokens before any end but the budget counts
 * @param maxThinkingTokens limit of reasoning tokens
 */
public record StopConditions(
    @Nullable Integer maxTokens,
    List<String> stop,
    List<Integer> stopTokenIds,
    List<Integer> visibleStopTokenIds,
    List<Integer> hiddenStopTokenIds,
    @Nullable Integer minTokens,
    boolean ignoreEos,
    @Nullable Integer maxThinkingTokens) {
  public StopConditions {
    stop = List.copyOf(stop);
    stopTokenIds = List.copyOf(stopTokenIds);
    visibleStopTokenIds = List.copyOf(visibleStopTokenIds);
    hiddenStopTokenIds = List.copyOf(hiddenStopTokenIds);
  }

  /** Creates the conditions that a client sets, without those that a model adds. */
  public StopConditions(
      @Nullable Integer maxTokens,
      List<String> stop,
      List<Integer> stopTokenIds,
      @Nullable Integer minTokens,
      boolean ignoreEos) {
    this(maxTokens, stop, stopTokenIds, List.of(), List.of(), minTokens, ignoreEos, null);
  }

  /** Returns every id at which the worker ends, each once. */
  public int[] endTokenIds() {
    return Stream.of(stopTokenIds, visibleStopTokenIds, hiddenStopTokenIds)
        .flatMapToInt(ids -> ids.stream().flatMapToInt(IntStream::of))
        .distinct()
        .toArray();
  }

  /** Returns the same conditions with the ids at which the model itself ends. */
  public StopConditions withHidden(List<Integer> ids) {
    return new StopConditions(
        maxTokens,
        stop,
        stopTokenIds,
        visibleStopTokenIds,
        ids,
        minTokens,
        ignoreEos,
        maxThinkingTokens);
  }

  /** Returns the same conditions with another budget. */
  public StopConditions withMaxTokens(int budget) {
    return new StopConditions(
        budget,
        stop,
        stopTokenIds,
        visibleStopTokenIds,
        hiddenStopTokenIds,
        minTokens,
        ignoreEos,
        maxThinkingTokens);
  }

  /** Returns the conditions that remain after {@code delivered} tokens. */
  public StopConditions reducedBy(int delivered) {
    return new StopConditions(
        maxTokens == null ? null : Math.max(0, maxTokens - delivered),
        stop,
        stopTokenIds,
        visibleStopTokenIds,
        hiddenStopTokenIds,
        minTokens == null ? null : Math.max(0, minTokens - delivered),
        ignoreEos,
        maxThinkingTokens);
  }
}
