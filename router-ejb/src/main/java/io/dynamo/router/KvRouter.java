package io.dynamo.router;

/**
 * Chooses the rank that serves a request, and keeps account of its choices. Safe for concurrent
 * use.
 */
public interface KvRouter {
  /**
   * Chooses a rank for {@code request} and books its load there until the decision is closed. Waits
   * while every rank is busy, no longer than {@code dynamo.router.queue-timeout} and the request's
   * deadline; it waits on the caller's thread, which should be virtual.
   *
   * @throws io.dynamo.error.NoWorkerException when no live rank may take the request
   * @throws io.dynamo.error.OverloadedException when all ranks are busy and the request may not
   *     wait longer
   * @throws io.dynamo.error.DeadlineExceededException when the request's deadline passes while it
   *     waits
   * @throws io.dynamo.error.CancelledException when the request is killed while it waits
   * @throws io.dynamo.error.InvalidRequestException when the request's hints contradict each other
   */
  RouteDecision route(RouteRequest request);
}
