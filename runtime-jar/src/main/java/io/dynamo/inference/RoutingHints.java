package io.dynamo.inference;

import org.jspecify.annotations.Nullable;

/**
 * What the router told the worker.
 *
 * @param rank the data-parallel rank that must serve; null lets the worker choose
 */
public record RoutingHints(@Nullable Integer rank) {
  public static final RoutingHints NONE = new RoutingHints(null);
}
