package io.dynamo.frontend.sse;

import org.jspecify.annotations.Nullable;

/** A stream of items that one consumer thread pulls. Not safe for a second consumer. */
public interface ItemSource<T> {
  /**
   * The next item that is ready, or null when none is ready now or none will follow.
   *
   * @throws io.dynamo.error.DynamoException the failure that ended the stream, after the items
   *     before it
   */
  @Nullable T poll();

  /** Whether the stream ended regularly and every item was taken. */
  boolean ended();

  /**
   * Waits until an item or the end is there.
   *
   * @return whether there is something to poll, false when {@code nanos} passed without
   */
  boolean await(long nanos) throws InterruptedException;

  /**
   * Drops all further items, with unbounded demand, so that a producer that is about to end by
   * itself can end. Called when the consumer needs no more items. Idempotent.
   */
  void leave();

  /** Cancels the producer, unless {@link #leave} was called. Idempotent. */
  void cancel();
}
