package io.dynamo.router;

/**
 * Chooses the rank that serves a request, and keeps account of what it has chosen. Safe for
 * concurrent use.
 */
public interface KvRouter {
  /**
   * Decides where {@code request} goes and books its load there until the decision is closed. May
   * wait on the caller's thread, which should be virtual, while every rank has enough to do: no
   * longer than {@code dynamo.router.queue-timeout} and the request's deadline.
   *
   * @throws io.dynamo.error.NoWorkerException when no live rank may take it
   * @throws io.dynamo.error.OverloadedException when all are busy and it may wait no longer
   * @throws io.dynamo.error.DeadlineExceededException when its deadline passes while it waits
   * @throws io.dynamo.error.CancelledException when it is killed while it waits
   * @throws io.dynamo.error.InvalidRequestException when its hints contradict each other
   */
  RouteDecision route(RouteRequest request);
}
