package io.dynamo.pipeline;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;

/**
 * Operations on a channel whose outcome no caller waits for: the channel's handlers see a failure.
 */
public final class Sockets {
  private Sockets() {}

  public static void close(Channel channel) {
    var _ = channel.close();
  }

  /** Writes without a flush; takes ownership of {@code bytes}. */
  public static void write(Channel channel, ByteBuf bytes) {
    var _ = channel.write(bytes, channel.voidPromise());
  }
}
