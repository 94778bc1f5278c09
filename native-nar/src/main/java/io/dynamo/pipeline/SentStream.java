package io.dynamo.pipeline;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.nio.ByteBuffer;

/** The worker's end of a call-home stream. Safe for concurrent use; frames keep their order. */
public interface SentStream {
  ByteBufAllocator allocator();

  /** Writes a frame that is a header alone, as the prologue is. */
  void say(byte[] header);

  /**
   * Writes an item: a frame without a header whose body is the three parts, which are copied. Items
   * that come together leave together; none waits for another. After {@link #finish} or {@link
   * #abort} it is dropped. A slow reader shows as calls of {@link CallHomeListener#written} that
   * stay away.
   *
   * @param item backed by an array
   */
  void send(byte[] head, ByteBuffer item, byte[] tail);

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
