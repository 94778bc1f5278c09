package io.dynamo.pipeline;

import java.nio.ByteBuffer;

/**
 * The requester's end of the input of a bidirectional request. Safe for concurrent use; frames keep
 * their order. The first of {@link #finish} and {@link #signal} counts, and after it items are
 * dropped.
 */
public interface SentInput {
  /**
   * Writes an item, which is copied. Items that come together leave together; none waits for
   * another. A worker that does not read shows as calls of {@link InputSource#written} that stay
   * away.
   *
   * @param item backed by an array
   */
  void send(ByteBuffer item);

  /** Says that nothing follows, and closes once that is out. */
  void finish();

  /**
   * Says that the input ends early, and closes. A kill closes at once, also after {@link #finish}:
   * what still waits for the worker is given up.
   */
  void signal(StreamSignal signal);
}
