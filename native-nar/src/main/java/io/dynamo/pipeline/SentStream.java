package io.dynamo.pipeline;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;

/** The worker's end of a call-home stream. Safe for concurrent use; frames keep their order. */
public interface SentStream {
  ByteBufAllocator allocator();

  /**
   * Writes {@code frame}, whose ownership passes. After {@link #finish} or {@link #abort} it is
   * dropped.
   *
   * @param written called on the event loop once the bytes are with the kernel; not when dropped or
   *     failed. A slow reader shows as calls that stay away
   */
  void send(ByteBuf frame, Runnable written);

  /**
   * Writes {@code last}, whose ownership passes, and the sentinel, then waits a bounded time for
   * the requester to close. The first of finish and abort counts.
   *
   * @param written called on the event loop once all is with the kernel, or has failed
   */
  void finish(ByteBuf last, Runnable written);

  /** Runs {@code task} on the stream's event loop: at once when called there. */
  void execute(Runnable task);

  /** Closes the connection without a sentinel. */
  void abort();
}
