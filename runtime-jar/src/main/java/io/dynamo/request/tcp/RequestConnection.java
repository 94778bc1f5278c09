package io.dynamo.request.tcp;

import io.dynamo.config.TcpSettings;
import io.dynamo.error.DynamoException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.error.WorkerLostException;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.pipeline.Sockets;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.handler.timeout.IdleStateHandler;
import io.netty.util.concurrent.Future;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One connection to a worker: requests go out one after the other, acknowledgements come back in
 * the same order. State belongs to its event loop; {@link #send} may be called from any thread.
 */
final class RequestConnection extends ChannelInboundHandlerAdapter {
  private static final int MAX_ACK_BYTES = 64 * 1024;
  private static final int MAX_UNACKNOWLEDGED = 1024;
  private static final int IDLE_SECONDS = 300;

  /** Told once how a request fared, on the event loop. */
  interface Outcome {
    /** The worker has queued the request. */
    void acknowledged();

    void failed(DynamoException cause);
  }

  private final class Unacknowledged {
    final Outcome outcome;
    final Future<?> timer;

    Unacknowledged(Outcome outcome) {
      this.outcome = outcome;
      this.timer =
          loop.schedule(
              RequestConnection.this::timedOut,
              settings.requestTimeout().toNanos(),
              TimeUnit.NANOSECONDS);
    }
  }

  private final InetSocketAddress worker;
  private final TcpSettings settings;
  private final PlaneMeters meters;
  private final Consumer<RequestConnection> onClosed;
  private final EventLoop loop;
  private final AtomicInteger load = new AtomicInteger(); // requests without acknowledgement
  private final ArrayDeque<Unacknowledged> unacknowledged = new ArrayDeque<>();
  private final ArrayDeque<RequestFrame> unsent = new ArrayDeque<>(); // until connected
  private ByteBuf pending = Unpooled.EMPTY_BUFFER;
  private @Nullable Channel channel;
  private @Nullable DynamoException end;

  /** Starts to connect. */
  RequestConnection(
      EventLoops loops,
      InetSocketAddress worker,
      TcpSettings settings,
      PlaneMeters meters,
      Consumer<RequestConnection> onClosed) {
    this.worker = worker;
    this.settings = settings;
    this.meters = meters;
    this.onClosed = onClosed;
    loop = loops.next();
  }

  void connect(EventLoops loops) {
    loops
        .connect(
            loop,
            worker,
            settings.connectTimeout(),
            new ChannelInitializer<Channel>() {
              @Override
              protected void initChannel(Channel connected) {
                connected
                    .pipeline()
                    .addLast(new IdleStateHandler(0, 0, IDLE_SECONDS), RequestConnection.this);
              }
            })
        .addListener(
            connected -> {
              if (!connected.isSuccess()) {
                end(lost("cannot connect to worker " + worker, connected.cause()));
              }
            });
  }

  /** Requests that wait for an acknowledgement. */
  int load() {
    return load.get();
  }

  /** Sends {@code frame} once connected. */
  void send(RequestFrame frame, Outcome outcome) {
    load.incrementAndGet();
    loop.execute(() -> sendNow(frame, outcome));
  }

  private void sendNow(RequestFrame frame, Outcome outcome) {
    if (end != null) {
      load.decrementAndGet();
      outcome.failed(end);
      return;
    }
    if (unacknowledged.size() == MAX_UNACKNOWLEDGED) {
      load.decrementAndGet();
      outcome.failed(
          new WorkerBusyException(
              "worker %s has not acknowledged %d requests".formatted(worker, MAX_UNACKNOWLEDGED)));
      return;
    }
    unacknowledged.add(new Unacknowledged(outcome));
    if (channel == null) {
      unsent.add(frame);
    } else {
      write(channel, frame);
    }
  }

  private void write(Channel to, RequestFrame frame) {
    to.writeAndFlush(frame.encode(to.alloc()))
        .addListener(
            written -> {
              if (written.isSuccess()) {
                meters.bytesSent().add(frame.length());
              } else {
                end(lost("cannot send to worker " + worker, written.cause()));
              }
            });
  }

  @Override
  public void channelActive(ChannelHandlerContext ctx) {
    channel = ctx.channel();
    if (end != null) {
      Sockets.close(ctx.channel());
      return;
    }
    for (var frame = unsent.poll(); frame != null; frame = unsent.poll()) {
      write(ctx.channel(), frame);
    }
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    pending =
        ByteToMessageDecoder.MERGE_CUMULATOR.cumulate(ctx.alloc(), pending, (ByteBuf) message);
    while (end == null && pending.readableBytes() >= 4) {
      long length = pending.getUnsignedInt(pending.readerIndex());
      if (length > MAX_ACK_BYTES) {
        end(
            lost(
                "worker %s announced an acknowledgement of %d bytes".formatted(worker, length),
                null));
        break;
      }
      if (pending.readableBytes() < 4 + length) {
        break;
      }
      pending.skipBytes(4);
      meters.bytesReceived().add(length);
      acknowledge(pending.readCharSequence((int) length, StandardCharsets.UTF_8).toString());
    }
    if (end != null || !pending.isReadable()) {
      drop();
    } else {
      pending.discardSomeReadBytes();
    }
  }

  private void acknowledge(String text) {
    var oldest = unacknowledged.poll();
    if (oldest == null) {
      end(lost("worker " + worker + " acknowledged what was not sent", null));
      return;
    }
    load.decrementAndGet();
    oldest.timer.cancel(false);
    if (text.isEmpty()) {
      oldest.outcome.acknowledged();
    } else {
      oldest.outcome.failed(Acks.failure(text));
    }
  }

  /**
   * The order of acknowledgements is all that names them: after one is missed, none can be told.
   */
  private void timedOut() {
    end(
        lost(
            "worker %s has not acknowledged a request within %s"
                .formatted(worker, settings.requestTimeout()),
            null));
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
    if (event instanceof ChannelInputShutdownEvent) {
      end(lost("worker " + worker + " closed the request connection", null));
    } else if (event instanceof IdleStateEvent && unacknowledged.isEmpty()) {
      end(lost("connection to worker " + worker + " was idle", null));
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    end(lost("the request connection to worker " + worker + " failed", cause));
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    end(lost("worker " + worker + " closed the request connection", null));
    drop();
  }

  private DynamoException lost(String what, @Nullable Throwable cause) {
    return new WorkerLostException(
        ErrorCode.CANNOT_CONNECT, cause == null ? what : what + ": " + cause.getMessage(), cause);
  }

  /** Ends the connection and every request that waits on it. */
  void close(DynamoException cause) {
    loop.execute(() -> end(cause));
  }

  private void end(DynamoException cause) {
    if (end != null) {
      return;
    }
    end = cause;
    onClosed.accept(this);
    if (channel != null) {
      Sockets.close(channel);
    }
    unsent.clear();
    for (var each = unacknowledged.poll(); each != null; each = unacknowledged.poll()) {
      load.decrementAndGet();
      each.timer.cancel(false);
      meters.errors().increment();
      each.outcome.failed(cause);
    }
  }

  private void drop() {
    pending.release();
    pending = Unpooled.EMPTY_BUFFER;
  }
}
