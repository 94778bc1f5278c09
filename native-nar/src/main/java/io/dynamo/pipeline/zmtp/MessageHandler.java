package io.dynamo.pipeline.zmtp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.util.Arrays;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The receiving side of a connection: assembles messages. */
abstract class MessageHandler extends ZmtpHandler {
  private static final byte[] NOTHING = {};

  private final byte[][] frames;
  private final ZmtpListener listener;
  private int count; // number of frames of the current message

  /**
   * @param frames the number of frames kept of each message; more are counted, not kept
   */
  MessageHandler(
      String type, Set<String> partners, int frames, int maxFrameBytes, ZmtpListener listener) {
    super(type, partners, maxFrameBytes, true);
    this.frames = new byte[frames][];
    this.listener = listener;
  }

  /** Tells the listener that the connection is open. */
  final void up() {
    listener.up();
  }

  @Override
  final void frame(ByteBuf body, boolean more) {
    if (count < frames.length) {
      frames[count] = ByteBufUtil.getBytes(body);
    }
    count++;
    if (!more) {
      int all = count;
      count = 0;
      listener.message(frames, all);
      Arrays.fill(frames, NOTHING); // a peer that is idle holds no memory
    }
  }

  @Override
  final void subscription(ByteBuf prefix, boolean wanted) {
    // peers of this side do not subscribe
  }

  @Override
  final void ended(@Nullable String violation) {
    listener.ended(violation);
  }
}
