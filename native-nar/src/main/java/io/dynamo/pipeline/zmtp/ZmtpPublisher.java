package io.dynamo.pipeline.zmtp;

import io.dynamo.pipeline.ConnectionLimit;
import io.dynamo.pipeline.EventLoops;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Sends messages to all who subscribed to what they begin with. A peer that reads more slowly than
 * others is no weight on them: what it does not take in time is dropped, for it alone.
 *
 * <p>One thread at a time sends; all else is safe for concurrent use.
 */
public final class ZmtpPublisher implements AutoCloseable {
  private static final int MAX_SUBSCRIBERS = 16_384;
  private static final long MAX_PREFIX_BYTES = 16 << 20; // of all peers together

  private final ZmtpLimits limits;
  private final Runnable onDropped;
  private final ConnectionLimit room = new ConnectionLimit(MAX_SUBSCRIBERS, () -> {});
  private final AtomicLong prefixBytes = new AtomicLong(); // that subscriptions take
  private final List<PublisherHandler> peers = new CopyOnWriteArrayList<>(); // that are open
  private @Nullable Channel listener; // set once, before others see this
  private volatile boolean closed;

  private ZmtpPublisher(ZmtpLimits limits, Runnable onDropped) {
    this.limits = limits;
    this.onDropped = onDropped;
  }

  /**
   * A publisher to which subscribers connect.
   *
   * @param address where; of port 0 for one that the system chooses
   * @param limits of each connection, whose frames are subscriptions
   * @param onDropped called for each message that one peer does not get
   * @throws IllegalStateException when it cannot be bound
   */
  public static ZmtpPublisher bound(
      EventLoops loops, InetSocketAddress address, ZmtpLimits limits, Runnable onDropped) {
    var publisher = new ZmtpPublisher(limits, onDropped);
    publisher.listener =
        loops.listen(
            address,
            new ChannelInitializer<>() {
              @Override
              protected void initChannel(Channel channel) {
                publisher.accept(channel);
              }
            });
    return publisher;
  }

  /** A publisher that connects, to brokers. */
  public static ZmtpPublisher unbound(ZmtpLimits limits, Runnable onDropped) {
    return new ZmtpPublisher(limits, onDropped);
  }

  /**
   * Connects to a broker.
   *
   * @param address resolved
   */
  public ZmtpConnection connect(ZmtpLoop loop, InetSocketAddress address, ZmtpListener listener) {
    return ZmtpSubscriber.dial(
        loop, address, new PublisherHandler(this, limits, listener), listener);
  }

  private void accept(Channel channel) {
    if (room.admits(channel)) {
      channel.pipeline().addLast(new PublisherHandler(this, limits, null));
    }
  }

  /**
   * @throws IllegalStateException when it is not bound
   */
  public InetSocketAddress address() {
    var bound = listener;
    if (bound == null) {
      throw new IllegalStateException("the publisher connects and is not bound");
    }
    return (InetSocketAddress) bound.localAddress();
  }

  void joined(PublisherHandler peer) {
    peers.add(peer);
    if (closed) {
      peer.finish();
    }
  }

  void left(PublisherHandler peer) {
    peers.remove(peer);
  }

  /** Peers that have shaken hands. */
  int subscribers() {
    return peers.size();
  }

  /** Takes room for a subscription; false when those of all peers together are too many. */
  boolean takePrefix(long bytes) {
    if (prefixBytes.addAndGet(bytes) <= MAX_PREFIX_BYTES) {
      return true;
    }
    prefixBytes.addAndGet(-bytes);
    return false;
  }

  void freePrefix(long bytes) {
    prefixBytes.addAndGet(-bytes);
  }

  void dropped() {
    onDropped.run();
  }

  /** Hands a message over to those who asked for it; it leaves with the next {@link #flush}. */
  public void write(byte[]... frames) {
    var topic = frames[0];
    ByteBuf bytes = null;
    try {
      for (var peer : peers) {
        if (peer.wants(topic)) {
          if (bytes == null) {
            bytes = ZmtpBytes.message(PooledByteBufAllocator.DEFAULT, frames);
          }
          peer.write(bytes);
        }
      }
    } finally {
      if (bytes != null) {
        bytes.release();
      }
    }
  }

  public void flush() {
    for (var peer : peers) {
      peer.flush();
    }
  }

  /** Takes no more, and closes each connection once it has what was written. Idempotent. */
  @Override
  public void close() {
    closed = true;
    var bound = listener;
    if (bound != null) {
      var _ = bound.close();
    }
    peers.forEach(PublisherHandler::finish);
  }
}
