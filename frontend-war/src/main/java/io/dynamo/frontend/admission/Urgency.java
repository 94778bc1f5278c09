package io.dynamo.frontend.admission;

import org.jspecify.annotations.Nullable;

/**
 * The priority of a request in the queue, by Dynamo's rule: a higher strict priority always goes
 * first; among equals, a request counts as if it had come {@code jumpSeconds} earlier. So a strict
 * priority can starve those below it, while a jump ages away.
 *
 * @param strictPriority at least 0
 * @param jumpSeconds at least 0
 */
public record Urgency(long strictPriority, double jumpSeconds) {
  /** The priority of a request that names none. */
  public static final Urgency NONE = new Urgency(0, 0);

  /**
   * The priority that a client names in {@code nvext.agent_hints} or headers.
   *
   * @param strictPriority null is 0
   * @param jumpSeconds null, not finite and negative values are 0
   */
  public static Urgency of(@Nullable Long strictPriority, @Nullable Double jumpSeconds) {
    double jump =
        jumpSeconds != null && Double.isFinite(jumpSeconds) ? Math.max(0, jumpSeconds) : 0;
    return strictPriority == null && jump == 0
        ? NONE
        : new Urgency(strictPriority == null ? 0 : strictPriority, jump);
  }
}
