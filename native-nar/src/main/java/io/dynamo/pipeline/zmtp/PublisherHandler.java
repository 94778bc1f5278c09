package io.dynamo.pipeline.zmtp;

import io.dynamo.pipeline.FrameException;
import io.dynamo.pipeline.Sockets;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The publishing side of a connection: knows its peer's subscriptions, and how many bytes and
 * messages wait for it. Its loop reads; the publisher's thread writes.
 */
final class PublisherHandler extends ZmtpHandler {
  private static final int MAX_SUBSCRIPTIONS = 1024;
  private static final int SUBSCRIPTION_BYTES = 64; // counted for one without its prefix
  private static final long LAST_WORDS_MILLIS = 1_000;

  private final ZmtpPublisher publisher;
  private final ZmtpLimits limits;
  private final @Nullable ZmtpListener listener;
  private final AtomicInteger queuedMessages = new AtomicInteger();
  private final AtomicLong queuedBytes = new AtomicLong();
  private volatile List<byte[]> prefixes = List.of(); // changed by the loop only
  private volatile boolean everything; // all topics are wanted
  private volatile @Nullable Channel channel; // null before it is open
  private boolean written; // since the last flush; the sender's
  private long prefixBytes; // reserved of the publisher's room; loop only
  private boolean within; // inside a message of several frames; loop only

  PublisherHandler(ZmtpPublisher publisher, ZmtpLimits limits, @Nullable ZmtpListener listener) {
    super("PUB", Set.of("SUB", "XSUB"), limits.maxFrameBytes(), listener != null);
    this.publisher = publisher;
    this.limits = limits;
    this.listener = listener;
  }

  @Override
  void opened(ChannelHandlerContext context) {
    channel = context.channel();
    publisher.joined(this);
    if (listener != null) {
      listener.up();
    }
  }

  /** Reads a subscription, a message of one frame: subscribe or unsubscribe, and the prefix. */
  @Override
  void frame(ByteBuf body, boolean more) throws FrameException {
    boolean single = !within && !more;
    within = more;
    if (single && body.isReadable()) {
      switch (body.readByte()) {
        case ZmtpBytes.SUBSCRIBE -> subscription(body, true);
        case ZmtpBytes.UNSUBSCRIBE -> subscription(body, false);
        default -> {} // a message to publishers in general: not used here
      }
    }
  }

  @Override
  void subscription(ByteBuf prefix, boolean wanted) throws FrameException {
    var bytes = ByteBufUtil.getBytes(prefix);
    var changed = new ArrayList<>(prefixes);
    long size = (long) SUBSCRIPTION_BYTES + bytes.length;
    if (changed.removeIf(known -> Arrays.equals(known, bytes))) {
      publisher.freePrefix(size);
      prefixBytes -= size;
    }
    if (wanted) {
      if (changed.size() < MAX_SUBSCRIPTIONS && publisher.takePrefix(size)) {
        prefixBytes += size;
        changed.add(bytes);
      } else if (listener == null) {
        throw new FrameException(
            changed.size() < MAX_SUBSCRIPTIONS
                ? "a subscription for which the publisher has no room"
                : "more than %d subscriptions".formatted(MAX_SUBSCRIPTIONS));
      } else {
        everything = true; // a broker filters for its own subscribers
      }
    }
    prefixes = List.copyOf(changed);
  }

  boolean wants(byte[] topic) {
    if (everything) {
      return true;
    }
    for (var prefix : prefixes) {
      if (prefix.length <= topic.length
          && Arrays.equals(prefix, 0, prefix.length, topic, 0, prefix.length)) {
        return true;
      }
    }
    return false;
  }

  /** Writes a message if the queue's bounds allow it, else drops it. */
  void write(ByteBuf message) {
    var open = channel;
    if (open == null) {
      return;
    }
    int size = message.readableBytes();
    int before = queuedMessages.get();
    if (before >= limits.queuedMessages()
        || (before > 0 && queuedBytes.get() + size > limits.queuedBytes())) {
      publisher.dropped();
      return;
    }
    queuedMessages.incrementAndGet();
    queuedBytes.addAndGet(size);
    written = true;
    open.write(message.retainedDuplicate())
        .addListener(
            done -> {
              if (done.isSuccess()) {
                alive(); // a peer that reads need not answer
              }
              queuedBytes.addAndGet(-size);
              queuedMessages.decrementAndGet();
            });
  }

  void flush() {
    var open = channel;
    if (written && open != null) {
      written = false;
      open.flush();
    }
  }

  /** Closes once all messages have been sent, or after a short time without. */
  void finish() {
    var open = channel;
    if (open == null) {
      return;
    }
    open.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
    var last =
        open.eventLoop()
            .schedule(() -> Sockets.close(open), LAST_WORDS_MILLIS, TimeUnit.MILLISECONDS);
    open.closeFuture().addListener(_ -> last.cancel(false));
  }

  @Override
  void ended(@Nullable String violation) {
    publisher.left(this);
    publisher.freePrefix(prefixBytes);
    prefixBytes = 0;
    if (listener != null) {
      listener.ended(violation);
    }
  }
}
