package io.dynamo.pipeline;

import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * Hears a call-home stream. All calls come on the connection's event loop: {@code connected}, then
 * {@code prologue}, then items, then one of {@code sentinel} and {@code broken}; {@code broken} may
 * come at any time after {@code connected}. It must not block.
 */
public interface StreamListener {
  void connected(ReceivedStream stream);

  /**
   * @param json the header of the prologue frame
   */
  void prologue(byte[] json);

  /**
   * @param body its readable bytes, during the call only; more may lie around them
   * @return whether to read on; false pauses the socket until {@link ReceivedStream#resume}
   */
  boolean item(ByteBuf body);

  /** The worker said that nothing follows. The connection is closed already. */
  void sentinel();

  /**
   * The connection ended without a sentinel, or spoke nonsense.
   *
   * @param cause null for a plain end of the connection
   */
  void broken(@Nullable Throwable cause);
}
