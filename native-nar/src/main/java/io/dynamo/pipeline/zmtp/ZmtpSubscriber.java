package io.dynamo.pipeline.zmtp;

import io.dynamo.pipeline.Sockets;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import java.net.InetSocketAddress;
import java.time.Duration;

/**
 * Connects to publishers, one connection at a time: a cut is reported, and the connection is not
 * made again here.
 */
public final class ZmtpSubscriber {
  private static final Duration CONNECT = Duration.ofSeconds(5);

  private ZmtpSubscriber() {}

  /**
   * Connects to a publisher, or to a broker that acts as one.
   *
   * @param address a resolved address
   * @param prefix the prefix of the first frame of the wanted messages
   * @param frames the number of frames kept of each message; more are counted, not kept
   * @param maxFrameBytes a peer that announces more is disconnected
   */
  public static ZmtpConnection connect(
      ZmtpLoop loop,
      InetSocketAddress address,
      byte[] prefix,
      int frames,
      int maxFrameBytes,
      ZmtpListener listener) {
    return dial(
        loop,
        address,
        new SubscriberHandler(prefix.clone(), frames, maxFrameBytes, listener),
        listener);
  }

  /**
   * Connects; the handler reports the connection's events once it is open, this method a failure to
   * connect.
   */
  static ZmtpConnection dial(
      ZmtpLoop loop, InetSocketAddress address, ChannelHandler handler, ZmtpListener listener) {
    var connecting = loop.loops.connect(loop.loop, address, CONNECT, handler);
    connecting.addListener(
        _ -> {
          if (!connecting.isSuccess()) {
            loop.execute(() -> listener.ended(null)); // the failure may come on another thread
          }
        });
    return new OutgoingConnection(loop, connecting);
  }

  private record OutgoingConnection(ZmtpLoop loop, ChannelFuture connecting)
      implements ZmtpConnection {
    @Override
    public void finish(Duration patience) {
      loop.execute(
          () -> {
            if (connecting.channel().isActive()) {
              loop.executeAfter(patience, this::close);
            } else {
              close();
            }
          });
    }

    @Override
    public void close() {
      if (!connecting.isDone() || connecting.isSuccess()) { // else there is nothing to close
        Sockets.close(connecting.channel());
      }
    }
  }
}
