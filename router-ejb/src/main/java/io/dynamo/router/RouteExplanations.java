package io.dynamo.router;

import java.util.List;
import java.util.Optional;

/** The newest decisions of a router, as many as are kept. Safe for concurrent use. */
public interface RouteExplanations {
  /** The newest decision for {@code requestId}; empty when it is not kept. */
  Optional<RouteExplanation> of(String requestId);

  /**
   * The newest decisions, newest first.
   *
   * @param limit at least 0
   */
  List<RouteExplanation> recent(int limit);

  /** Whether callers of other machines may see them. */
  boolean remote();
}
