package io.dynamo.pipeline;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;

/**
 * The requester's end of the input of a bidirectional request. Safe for concurrent use; frames keep
 * their order. The first of {@link #finish} and {@link #signal} counts, and after it frames are
 * dropped.
 */
public interface SentInput {
  ByteBufAllocator allocator();

  /**
   * Writes {@code frame}, whose ownership passes.
   *
   * @param written called on the event loop once the bytes are with the kernel; not when dropped or
   *     failed. A worker that does not read shows as calls that stay away
   */
  void send(ByteBuf frame, Runnable written);

  /** Says that nothing follows, and closes once that is out. */
  void finish();

  /**
   * Says that the input ends early, and closes. A kill closes at once, also after {@link #finish}:
   * what still waits for the worker is given up.
   */
  void signal(StreamSignal signal);
}
