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
 * Sends messages to all subscribers of a prefix of their first frame. A peer that reads more slowly
 * than others does not delay them: messages that it does not read in time are dropped, for it
 * alone.
 *
 * <p>One thread at a time sends; all other methods are safe for concurrent use.
 */
public final class ZmtpPublisher implements AutoCloseable {
  private static final int MAX_SUBSCRIBERS = 16_384;
  private static final long MAX_PREFIX_BYTES = 16 << 20; // for the subscriptions of all peers

  private final ZmtpLimits limits;
  private final Runnable onDropped;
  private final ConnectionLimit room = new ConnectionLimit(MAX_SUBSCRIBERS, () -> {});
  private final AtomicLong prefixBytes = new AtomicLong(); // reserved by subscriptions
  private final List<PublisherHandler> peers = new CopyOnWriteArrayList<>(); // the open ones
  private @Nullable Channel listener; // set once, before other threads see this
  private volatile boolean closed;

  private ZmtpPublisher(ZmtpLimits limits, Runnable onDropped) {
    this.limits = limits;
    this.onDropped = onDropped;
  }

  /**
   * Returns a publisher to which subscribers connect.
   *
   * @param address the address to bind; port 0 lets the system choose
   * @param limits bounds of each connection, whose incoming frames are subscriptions
   * @param onDropped called for each message that one peer does not get
   * @throws IllegalStateException when the address cannot be bound
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

  /** Returns a publisher that connects to brokers. */
  public static ZmtpPublisher unbound(ZmtpLimits limits, Runnable onDropped) {
    return new ZmtpPublisher(limits, onDropped);
  }

  /**
   * Connects to a broker.
   *
   * @param address a resolved address
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
   * Returns the bound address.
   *
   * @throws IllegalStateException when the publisher is not bound
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

  /** Returns the number of peers whose handshake is done. */
  int subscribers() {
    return peers.size();
  }

  /**
   * Reserves room for a subscription; false when the subscriptions of all peers together are too
   * large.
   */
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

  /** Queues a message for its subscribers; it is sent with the next {@link #flush}. */
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

  /**
   * Stops accepting peers, and closes each connection once its messages have been sent. Idempotent.
   */
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
