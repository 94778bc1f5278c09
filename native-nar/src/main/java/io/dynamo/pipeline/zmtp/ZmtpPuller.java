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

/** Takes the messages of peers that connect and push. Safe for concurrent use. */
public final class ZmtpPuller implements AutoCloseable {
  private final Channel bound;
  private final Set<Channel> peers;

  private ZmtpPuller(Channel bound, Set<Channel> peers) {
    this.bound = bound;
    this.peers = peers;
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
    var room = new ConnectionLimit(maxPeers, () -> {});
    var peers = ConcurrentHashMap.<Channel>newKeySet();
    var bound =
        loops.listen(
            address,
            new ChannelInitializer<>() {
              @Override
              protected void initChannel(Channel peer) {
                if (room.admits(peer)) {
                  peers.add(peer);
                  peer.closeFuture().addListener(_ -> peers.remove(peer));
                  peer.pipeline().addLast(new PullHandler(frames, maxFrameBytes, listeners.get()));
                }
              }
            });
    return new ZmtpPuller(bound, peers);
  }

  /** Returns the bound address. */
  public InetSocketAddress address() {
    return (InetSocketAddress) bound.localAddress();
  }

  /** Stops listening and disconnects all peers. Idempotent. */
  @Override
  public void close() {
    bound.close().addListener(_ -> peers.forEach(Sockets::close));
  }
}
