package io.dynamo.pipeline.zmtp;

import io.netty.channel.ChannelHandlerContext;
import java.util.Set;

/** The subscribing side of a connection: subscribes to a prefix. */
final class SubscriberHandler extends MessageHandler {
  private final byte[] prefix;

  SubscriberHandler(byte[] prefix, int frames, int maxFrameBytes, ZmtpListener listener) {
    super("SUB", Set.of("PUB", "XPUB"), frames, maxFrameBytes, listener);
    this.prefix = prefix;
  }

  @Override
  void opened(ChannelHandlerContext context) {
    write(context, ZmtpBytes.subscription(prefix));
    up();
  }
}
