package io.dynamo.pipeline.zmtp;

import io.dynamo.pipeline.ConnectionLimit;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.pipeline.Sockets;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import java.net.InetSocketAddress;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Takes the messages of peers that connect and push. Safe for concurrent use. */
public final class ZmtpPuller implements AutoCloseable {
  private final ConnectionLimit room;
  private final Set<Channel> peers = ConcurrentHashMap.newKeySet();
  private @Nullable Channel listener; // set once, before other threads see this
  private volatile boolean closed;

  private ZmtpPuller(int maxPeers) {
    this.room = new ConnectionLimit(maxPeers, () -> {});
  }

  /**
   * Binds an address and takes messages until it is closed.
   *
   * @param address the address to bind; port 0 lets the system choose
   * @param maxPeers connected at once; further ones are disconnected
   * @param frames the number of frames kept of each message; more are counted, not kept
   * @param maxFrameBytes a peer that announces more is disconnected
   * @param listeners gives the listener of each connection
   * @throws IllegalStateException when the address cannot be bound
   */
  public static ZmtpPuller bind(
      EventLoops loops,
      InetSocketAddress address,
      int maxPeers,
      int frames,
      int maxFrameBytes,
      Supplier<ZmtpListener> listeners) {
    var puller = new ZmtpPuller(maxPeers);
    puller.listener =
        loops.listen(
            address,
            new ChannelInitializer<>() {
              @Override
              protected void initChannel(Channel peer) {
                puller.accept(peer, new PullHandler(frames, maxFrameBytes, listeners.get()));
              }
            });
    return puller;
  }

  private void accept(Channel peer, PullHandler handler) {
    if (!room.admits(peer)) {
      return;
    }
    peers.add(peer);
    peer.closeFuture().addListener(_ -> peers.remove(peer));
    peer.pipeline().addLast(handler);
    if (closed) { // a concurrent close may have missed it
      peer.eventLoop().execute(() -> Sockets.close(peer));
    }
  }

  /** Stops listening and disconnects all peers. Idempotent. */
  @Override
  public void close() {
    closed = true;
    var bound = listener;
    if (bound != null) {
      var _ = bound.close();
    }
    peers.forEach(Sockets::close);
  }
}
