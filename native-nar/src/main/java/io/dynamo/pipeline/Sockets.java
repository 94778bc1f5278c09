package io.dynamo.pipeline;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;

/** What is done to a channel when nobody waits for the outcome: its handlers hear of a failure. */
public final class Sockets {
  private Sockets() {}

  public static void close(Channel channel) {
    var _ = channel.close();
  }

  /** Writes without a flush; {@code bytes} passes. */
  public static void write(Channel channel, ByteBuf bytes) {
    var _ = channel.write(bytes, channel.voidPromise());
  }
}
