package io.dynamo.router.endpoint;

import io.dynamo.router.RouteDecision;

/**
 * The outcome of an attempt to place a request: placed on a rank, or not placed because its session
 * has moved.
 */
sealed interface RouteOutcome {
  /** The request was placed on a rank. */
  record Routed(RouteDecision decision) implements RouteOutcome {}

  /** The request's session was bound to another rank meanwhile; nothing is booked. */
  enum SessionMoved implements RouteOutcome {
    SESSION_MOVED
  }
}
