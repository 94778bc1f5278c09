package io.dynamo.frontend.dispatch;

import io.dynamo.error.DynamoException;
import io.dynamo.frontend.sse.ItemSource;

/**
 * The items of the answer to one request. While the first has not come, another worker is asked
 * when one is lost; one that is lost later ends the answer, as do the request's deadline and its
 * cancellation. There is at least one item, or an exception. For one thread, which may have to wait
 * for another worker; {@link #abort} is for any.
 */
public interface AnswerItems<A> extends ItemSource<A>, AutoCloseable {
  /**
   * Waits for the first item, which {@link #poll} returns next.
   *
   * @throws DynamoException when there will be none
   */
  void awaitFirst() throws InterruptedException;

  /**
   * Waits for the first item, or until {@code nanos} have passed.
   *
   * @throws DynamoException when there will be none
   */
  void awaitFirst(long nanos) throws InterruptedException;

  /** Ends the answer with {@code cause}, unless it has ended; no other worker is asked. */
  void abort(DynamoException cause);

  /** Ends the worker's work unless it has ended, and frees its place at the router. Idempotent. */
  @Override
  void close();
}
