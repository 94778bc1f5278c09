package io.dynamo.pipeline;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.nio.ByteBuffer;

/** The worker's end of a call-home stream. Safe for concurrent use; frames keep their order. */
public interface SentStream {
  ByteBufAllocator allocator();

  /** Writes a frame that is a header alone, such as the prologue. */
  void sendHeader(byte[] header);

  /**
   * Writes an item: a frame without a header whose body is the three parts, which are copied. Items
   * added at the same time are sent together; none waits for another. After {@link #finish} or
   * {@link #abort} the item is dropped. When the reader is slow, calls of {@link
   * CallHomeListener#written} stop coming.
   *
   * @param item backed by an array
   */
  void send(byte[] head, ByteBuffer item, byte[] tail);

  /**
   * Writes {@code last}, taking ownership of it, and the sentinel, then waits a bounded time for
   * the requester to close. The first of finish and abort counts.
   *
   * @param written called on the event loop once all is written to the kernel, or has failed
   */
  void finish(ByteBuf last, Runnable written);

  /** Runs {@code task} on the stream's event loop; immediately when called on it. */
  void execute(Runnable task);

  /** Closes the connection without a sentinel. */
  void abort();
}
