package io.dynamo.router.endpoint;

import io.dynamo.router.RouteDecision;

/** The end of an attempt to place a request: on a rank, or not with the session that it assumed. */
sealed interface RouteOutcome {
  /** The request has a rank. */
  record Routed(RouteDecision decision) implements RouteOutcome {}

  /** The request's session was bound to another rank meanwhile; nothing is booked. */
  enum SessionMoved implements RouteOutcome {
    SESSION_MOVED
  }
}
