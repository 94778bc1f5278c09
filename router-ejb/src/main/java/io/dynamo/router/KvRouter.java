package io.dynamo.router;

/**
 * Chooses the rank that serves a request, and keeps account of what it has chosen. Safe for
 * concurrent use; never blocks.
 */
public interface KvRouter {
  /**
   * Decides where {@code request} goes and books its load there until the decision is closed.
   *
   * @throws io.dynamo.error.NoWorkerException when no live rank may take it
   */
  RouteDecision route(RouteRequest request);
}
