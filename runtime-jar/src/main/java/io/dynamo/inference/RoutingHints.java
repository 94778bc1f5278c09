package io.dynamo.inference;

import org.jspecify.annotations.Nullable;

/**
 * What the router told the worker, and what the client told the router.
 *
 * @param rank the data-parallel rank that must serve; null lets the worker choose
 * @param passedOn the other hints: workers pinned, adapter, priority, salt
 */
public record RoutingHints(@Nullable Integer rank, PassedOn passedOn) {
  public static final RoutingHints NONE = new RoutingHints(null);

  public RoutingHints(@Nullable Integer rank) {
    this(rank, PassedOn.NONE);
  }
}
