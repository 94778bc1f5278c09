package io.dynamo.frontend.admission;

import org.jspecify.annotations.Nullable;

/**
 * How soon a request wants its turn, by Dynamo's rule: a higher strict priority always goes first;
 * among equals, a request counts as if it had come {@code jumpSeconds} earlier. So a strict
 * priority can starve those below it, while a jump ages away.
 *
 * @param strictPriority at least 0
 * @param jumpSeconds at least 0
 */
public record Urgency(long strictPriority, double jumpSeconds) {
  /** That of a request that says nothing. */
  public static final Urgency NONE = new Urgency(0, 0);

  /**
   * Of what a client says in {@code nvext.agent_hints} or headers.
   *
   * @param strictPriority null is 0
   * @param jumpSeconds null, nonsense and what is negative are 0
   */
  public static Urgency of(@Nullable Long strictPriority, @Nullable Double jumpSeconds) {
    double jump =
        jumpSeconds != null && Double.isFinite(jumpSeconds) ? Math.max(0, jumpSeconds) : 0;
    return strictPriority == null && jump == 0
        ? NONE
        : new Urgency(strictPriority == null ? 0 : strictPriority, jump);
  }
}
