package io.dynamo.pipeline;

import java.nio.ByteBuffer;

/**
 * The requester's end of the input of a bidirectional request. Safe for concurrent use; frames keep
 * their order. The first of {@link #finish} and {@link #signal} counts, and after it items are
 * dropped.
 */
public interface SentInput {
  /**
   * Writes an item, which is copied. Items added at the same time are sent together; none waits for
   * another. When the worker does not read, calls of {@link InputSource#written} stop coming.
   *
   * @param item backed by an array
   */
  void send(ByteBuffer item);

  /** Sends the sentinel, and closes once it is written. */
  void finish();

  /**
   * Sends a signal that ends the input early, and closes. A kill closes at once, also after {@link
   * #finish}: bytes that still wait for the worker are dropped.
   */
  void signal(StreamSignal signal);
}
