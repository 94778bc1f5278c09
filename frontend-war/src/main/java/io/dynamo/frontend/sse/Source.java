package io.dynamo.frontend.sse;

import org.jspecify.annotations.Nullable;

/** Items that one consumer thread pulls. Not safe for use by a second consumer. */
public interface Source<T> {
  /**
   * The next item that is ready, or null when none is ready now or none will follow.
   *
   * @throws io.dynamo.error.DynamoException the failure that ended the stream, after the items
   *     before it
   */
  @Nullable T poll();

  /** Whether the stream came to its regular end and every item was taken. */
  boolean ended();

  /**
   * Waits until an item or the end is there.
   *
   * @return whether there is something to poll, false when {@code nanos} passed without
   */
  boolean await(long nanos) throws InterruptedException;

  /**
   * The consumer has what it wants and the producer is about to end by itself: what still comes is
   * dropped, and asked for without bound so that nothing keeps the end back. Idempotent.
   */
  void leave();

  /** Gives up what has not been taken; the producer is told, unless it was left. Idempotent. */
  void cancel();
}
