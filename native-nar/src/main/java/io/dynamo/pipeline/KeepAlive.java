package io.dynamo.pipeline;

import io.netty.channel.ChannelOption;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.socket.nio.NioChannelOption;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.util.Map;
import jdk.net.ExtendedSocketOptions;

/**
 * Makes the system probe idle connections, so that a peer whose host is gone is noticed within
 * seconds: by default Linux starts probing after two hours. Streams with writes in progress notice
 * by themselves.
 */
final class KeepAlive {
  static final int IDLE_SECONDS = 10; // idle time before the first probe
  static final int INTERVAL_SECONDS = 5; // time between probes
  static final int PROBES = 3; // unanswered probes before the connection fails

  private KeepAlive() {}

  /**
   * Returns the times of the probes, where the system supports them per socket.
   *
   * @param epoll whether the sockets are Netty's native ones
   */
  static Map<ChannelOption<Integer>, Integer> times(boolean epoll) {
    return epoll
        ? Map.of(
            EpollChannelOption.TCP_KEEPIDLE,
            IDLE_SECONDS,
            EpollChannelOption.TCP_KEEPINTVL,
            INTERVAL_SECONDS,
            EpollChannelOption.TCP_KEEPCNT,
            PROBES)
        : OfNio.times();
  }

  /** Kept apart, so that the JDK's options are loaded only where they are used. */
  private static final class OfNio {
    static Map<ChannelOption<Integer>, Integer> times() {
      try (var socket = SocketChannel.open()) {
        return socket.supportedOptions().contains(ExtendedSocketOptions.TCP_KEEPIDLE)
            ? Map.of(
                NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPIDLE),
                IDLE_SECONDS,
                NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPINTERVAL),
                INTERVAL_SECONDS,
                NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPCOUNT),
                PROBES)
            : Map.of();
      } catch (IOException e) {
        throw new IllegalStateException("no socket can be opened; are all descriptors in use?", e);
      }
    }
  }
}
