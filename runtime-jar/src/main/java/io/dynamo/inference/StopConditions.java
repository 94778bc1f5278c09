package io.dynamo.inference;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * When a generation ends. Stop strings are matched by the frontend, which has the text; ids and the
 * budget by the worker.
 *
 * @param maxTokens tokens at most; null leaves it to the worker
 * @param stopTokenIds ids that end the generation and whose text is dropped
 * @param minTokens tokens before any end but the budget counts
 */
public record StopConditions(
    @Nullable Integer maxTokens,
    List<String> stop,
    List<Integer> stopTokenIds,
    @Nullable Integer minTokens,
    boolean ignoreEos) {
  public StopConditions {
    stop = List.copyOf(stop);
    stopTokenIds = List.copyOf(stopTokenIds);
  }

  /** What is left of them after {@code delivered} tokens. */
  public StopConditions reducedBy(int delivered) {
    return new StopConditions(
        maxTokens == null ? null : Math.max(0, maxTokens - delivered),
        stop,
        stopTokenIds,
        minTokens == null ? null : Math.max(0, minTokens - delivered),
        ignoreEos);
  }
}
