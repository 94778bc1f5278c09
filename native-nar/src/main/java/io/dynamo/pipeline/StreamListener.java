package io.dynamo.pipeline;

import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * Receives the events of a call-home stream. All calls come on the connection's event loop: {@code
 * connected}, then {@code prologue}, then items, then one of {@code sentinel} and {@code broken};
 * {@code broken} may come at any time after {@code connected}. It must not block.
 */
public interface StreamListener {
  void connected(ReceivedStream stream);

  /**
   * @param json the header of the prologue frame
   */
  void prologue(byte[] json);

  /**
   * Called for each item.
   *
   * @param body its readable bytes, valid during the call only; the buffer may contain more around
   *     them
   * @return whether to continue reading; false pauses the socket until {@link
   *     ReceivedStream#resume}
   */
  boolean item(ByteBuf body);

  /** Called when the worker has sent the sentinel. The connection is closed already. */
  void sentinel();

  /**
   * Called when the connection ended without a sentinel, or violated the protocol.
   *
   * @param cause null for a plain end of the connection
   */
  void broken(@Nullable Throwable cause);
}
