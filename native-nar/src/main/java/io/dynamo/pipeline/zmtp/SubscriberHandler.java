package io.dynamo.pipeline.zmtp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelHandlerContext;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The subscribing side of a connection: subscribes to a prefix, and assembles messages. */
final class SubscriberHandler extends ZmtpHandler {
  private final byte[] prefix;
  private final byte[][] frames;
  private final ZmtpListener listener;
  private int count; // number of frames of the current message

  SubscriberHandler(byte[] prefix, int frames, int maxFrameBytes, ZmtpListener listener) {
    super("SUB", Set.of("PUB", "XPUB"), maxFrameBytes, true);
    this.prefix = prefix;
    this.frames = new byte[frames][];
    this.listener = listener;
  }

  @Override
  void opened(ChannelHandlerContext context) {
    write(context, ZmtpBytes.subscription(prefix));
    listener.up();
  }

  @Override
  void frame(ByteBuf body, boolean more) {
    if (count < frames.length) {
      frames[count] = ByteBufUtil.getBytes(body);
    }
    count++;
    if (!more) {
      int all = count;
      count = 0;
      listener.message(frames, all);
    }
  }

  @Override
  void subscription(ByteBuf prefix, boolean wanted) {
    // only this side subscribes
  }

  @Override
  void ended(@Nullable String violation) {
    listener.ended(violation);
  }
}
