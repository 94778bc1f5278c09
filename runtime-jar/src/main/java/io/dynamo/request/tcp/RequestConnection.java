package io.dynamo.request.tcp;

import io.dynamo.config.plane.TcpSettings;
import io.dynamo.error.DynamoException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.error.WorkerLostException;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.pipeline.FrameException;
import io.dynamo.pipeline.Sockets;
import io.dynamo.pipeline.TlsContext;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.concurrent.Future;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One connection to a worker: requests are sent one after the other, acknowledgements return in the
 * same order. Its state is confined to its event loop; {@link #send} may be called from any thread.
 */
final class RequestConnection extends ChannelInboundHandlerAdapter {
  private static final int MAX_UNACKNOWLEDGED = 1024;

  /** Receives the outcome of one request, once, on the event loop. */
  interface Outcome {
    /** Called when the worker has queued the request. */
    void acknowledged();

    void failed(DynamoException cause);

    /** Called instead of {@code failed} when the worker is alive and refuses the request. */
    default void refused(DynamoException refusal) {
      failed(refusal);
    }
  }

  /** Receives the outcome, and is also called when the bytes have been sent. */
  interface Attempt extends Outcome {
    /** Called when the kernel has taken the whole request. */
    void written();

    /**
     * Called instead of {@code failed} when the connection was established but part of the request
     * was never sent.
     */
    void neverTaken(DynamoException cause);
  }

  private final class Unacknowledged {
    final RequestFrame frame;
    final Attempt attempt;
    @Nullable Future<?> timer; // runs from the dial on: a wait before it is not the worker's
    boolean written;

    Unacknowledged(RequestFrame frame, Attempt attempt) {
      this.frame = frame;
      this.attempt = attempt;
    }

    void startTimer() {
      timer =
          loop.schedule(
              RequestConnection.this::timedOut,
              settings.timeouts().acknowledgement().toNanos(),
              TimeUnit.NANOSECONDS);
    }

    void stopTimer() {
      if (timer != null) {
        timer.cancel(false);
      }
    }
  }

  private final InetSocketAddress worker;
  private final TcpSettings settings;
  private final @Nullable TlsContext tls;
  private final PlaneMeters meters;
  private final Consumer<RequestConnection> onClosed;
  private final EventLoop loop;
  private final ConnectWait wait;
  private final AtomicInteger load = new AtomicInteger(); // requests without acknowledgement
  private final ArrayDeque<Unacknowledged> unacknowledged = new ArrayDeque<>();
  private ByteBuf pending = Unpooled.EMPTY_BUFFER;
  private @Nullable Channel socket; // set once connected
  private boolean dialled; // false while the connection waits for its turn to be established
  private boolean stands; // requests may be written
  private @Nullable DynamoException end;

  /** Creates a connection that is not dialled yet. */
  RequestConnection(
      EventLoops loops,
      InetSocketAddress worker,
      TcpSettings settings,
      @Nullable TlsContext tls,
      PlaneMeters meters,
      Consumer<RequestConnection> onClosed) {
    this.worker = worker;
    this.settings = settings;
    this.tls = tls;
    this.meters = meters;
    this.onClosed = onClosed;
    loop = loops.next();
    wait = new ConnectWait(loop, worker, settings);
  }

  /** Dials when {@code gate} lets it; one that has ended until then does not. */
  void connect(EventLoops loops, ConnectGate gate) {
    loop.execute(
        () -> {
          if (end == null) {
            wait.begin(gate, () -> dial(loops, gate), refusal -> end(refusal, false));
          }
        });
  }

  private void dial(EventLoops loops, ConnectGate gate) {
    if (end != null) {
      gate.leave(worker);
      return;
    }
    dialled = true;
    unacknowledged.forEach(Unacknowledged::startTimer);
    loops
        .connect(
            loop,
            worker,
            settings.timeouts().connect(),
            new ChannelInitializer<Channel>() {
              @Override
              protected void initChannel(Channel connected) {
                connected.pipeline().addLast(RequestConnection.this);
                if (tls != null) {
                  tls.secure(connected, worker);
                }
              }
            })
        .addListener(
            connected -> {
              gate.leave(worker);
              if (!connected.isSuccess()) {
                end(lost("cannot connect to worker " + worker, connected.cause()));
              }
            });
  }

  /** Returns the number of requests that wait for an acknowledgement. */
  int load() {
    return load.get();
  }

  /** Counts a request that {@link #send} follows for. */
  void reserve() {
    load.incrementAndGet();
  }

  /** Sends a request that has a {@link #reserve place}, waiting for the connection if necessary. */
  void send(RequestFrame frame, Attempt attempt) {
    loop.execute(() -> sendNow(frame, attempt));
  }

  private void sendNow(RequestFrame frame, Attempt attempt) {
    if (end != null) {
      load.decrementAndGet();
      if (stands) {
        attempt.neverTaken(end);
      } else {
        attempt.failed(end);
      }
      return;
    }
    if (unacknowledged.size() == MAX_UNACKNOWLEDGED) {
      load.decrementAndGet();
      attempt.failed(
          new WorkerBusyException(
              "worker %s has not acknowledged %d requests".formatted(worker, MAX_UNACKNOWLEDGED)));
      return;
    }
    var sent = new Unacknowledged(frame, attempt);
    unacknowledged.add(sent);
    if (dialled) {
      sent.startTimer();
    }
    if (socket != null && stands) {
      write(socket, sent);
    }
  }

  private void write(Channel to, Unacknowledged request) {
    to.writeAndFlush(request.frame.encode(to.alloc()))
        .addListener(
            written -> {
              if (written.isSuccess()) {
                request.written = true;
                meters.bytesSent().add(request.frame.length());
                request.attempt.written();
              } else {
                end(lost("cannot send to worker " + worker, written.cause()));
              }
            });
  }

  @Override
  public void channelActive(ChannelHandlerContext ctx) {
    socket = ctx.channel();
    if (end != null) {
      Sockets.close(ctx.channel());
    } else if (tls == null) {
      stand(ctx.channel());
    }
  }

  private void stand(Channel connected) {
    stands = true;
    for (var waiting : List.copyOf(unacknowledged)) {
      write(connected, waiting);
    }
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    pending =
        ByteToMessageDecoder.MERGE_CUMULATOR.cumulate(ctx.alloc(), pending, (ByteBuf) message);
    try {
      for (int before = pending.readableBytes(); end == null; before = pending.readableBytes()) {
        var text = Acks.read(pending);
        if (text == null) {
          break;
        }
        meters.bytesReceived().add(before - pending.readableBytes());
        acknowledge(text);
      }
    } catch (FrameException e) {
      end(lost("worker " + worker + " makes no sense", e));
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
    oldest.stopTimer();
    if (text.isEmpty()) {
      oldest.attempt.acknowledged();
    } else {
      oldest.attempt.refused(Acks.failure(text));
    }
  }

  /**
   * Ends the connection when an acknowledgement is late: acknowledgements are matched by order
   * alone, so after a missing one none can be matched.
   */
  private void timedOut() {
    end(
        lost(
            "worker %s has not acknowledged a request within %s"
                .formatted(worker, settings.timeouts().acknowledgement()),
            null),
        false);
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
    if (event instanceof SslHandshakeCompletionEvent shaken) {
      if (!shaken.isSuccess()) {
        end(lost("no TLS with worker " + worker, shaken.cause()));
      } else if (end == null) {
        stand(ctx.channel());
      }
    } else if (event instanceof ChannelInputShutdownEvent) {
      end(lost("worker " + worker + " closed the request connection", null));
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

  /** Ends the connection and all its unacknowledged requests. */
  void close(DynamoException cause) {
    loop.execute(() -> end(cause, false));
  }

  private void end(DynamoException cause) {
    end(cause, stands);
  }

  /**
   * @param repeatable whether requests that were not written completely may be sent on another
   *     connection: a worker never takes a partial frame. A request written completely may have
   *     been taken even without an acknowledgement
   */
  private void end(DynamoException cause, boolean repeatable) {
    if (end != null) {
      return;
    }
    end = cause;
    wait.end();
    onClosed.accept(this);
    if (socket != null) {
      Sockets.close(socket);
    }
    for (var each = unacknowledged.poll(); each != null; each = unacknowledged.poll()) {
      load.decrementAndGet();
      each.stopTimer();
      meters.errors().increment();
      if (repeatable && !each.written) {
        each.attempt.neverTaken(cause);
      } else {
        each.attempt.failed(cause);
      }
    }
  }

  private void drop() {
    pending.release();
    pending = Unpooled.EMPTY_BUFFER;
  }
}
