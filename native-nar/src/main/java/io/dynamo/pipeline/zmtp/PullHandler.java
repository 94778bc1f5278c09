package io.dynamo.pipeline.zmtp;

import io.netty.channel.ChannelHandlerContext;
import java.util.Set;

/** The pulling side of a connection: takes what its peer pushes. */
final class PullHandler extends MessageHandler {
  PullHandler(int frames, int maxFrameBytes, ZmtpListener listener) {
    super("PULL", Set.of("PUSH"), frames, maxFrameBytes, listener);
  }

  @Override
  void opened(ChannelHandlerContext context) {
    up();
  }
}
