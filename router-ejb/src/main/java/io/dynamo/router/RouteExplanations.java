package io.dynamo.router;

import java.util.List;
import java.util.Optional;

/**
 * Gives access to the newest decisions of a router, as many as it keeps. Safe for concurrent use.
 */
public interface RouteExplanations {
  /** Returns the newest decision for {@code requestId}; empty when it is not kept. */
  Optional<RouteExplanation> of(String requestId);

  /**
   * Returns the newest decisions, newest first.
   *
   * @param limit the greatest number of decisions to return; at least 0
   */
  List<RouteExplanation> recent(int limit);

  /** Whether callers on other machines may read the decisions. */
  boolean remote();
}
