package io.dynamo.pipeline.http;

import io.dynamo.pipeline.Sockets;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.netty.util.concurrent.ScheduledFuture;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One client's connection: reads a request, has it answered, reads the next. Its state belongs to
 * the event loop; the handler's thread affects it only through {@link HttpAnswerWriter} and {@link
 * #answered}.
 */
final class HttpConnection extends SimpleChannelInboundHandler<FullHttpRequest> {
  private static final System.Logger LOG = System.getLogger(HttpConnection.class.getName());

  private final HttpLimits limits;
  private final HttpHandler handler;
  private final ExecutorService threads;
  private final Channel channel;
  private final Connections connections;
  private volatile Connections.Phase phase = Connections.Phase.RECEIVING;
  private volatile long sinceNanos = System.nanoTime(); // start of the phase
  private long bodyBytes; // reserved of the server's room; event loop only
  private @Nullable ScheduledFuture<?> clock; // bounds receiving, then handling
  private @Nullable Future<?> work;

  HttpConnection(
      Channel channel,
      HttpLimits limits,
      HttpHandler handler,
      ExecutorService threads,
      Connections connections) {
    this.channel = channel;
    this.connections = connections;
    this.limits = limits;
    this.handler = handler;
    this.threads = threads;
  }

  @Override
  public void channelActive(ChannelHandlerContext ctx) {
    receive(ctx);
  }

  Connections.Phase phase() {
    return phase;
  }

  long sinceNanos() {
    return sinceNanos;
  }

  private void enter(Connections.Phase next) {
    sinceNanos = System.nanoTime();
    phase = next;
  }

  /** Closes the connection to make room for another. May be called on any thread. */
  void giveWay() {
    Sockets.close(channel);
  }

  boolean takeBody(int bytes) {
    boolean room = connections.takeBody(bytes);
    bodyBytes += room ? bytes : 0;
    return room;
  }

  private void freeBody() {
    connections.freeBody(bodyBytes);
    bodyBytes = 0;
  }

  /** Called on the event loop when the channel is closed. */
  void closed() {
    connections.remove(this);
    freeBody();
  }

  private void receive(ChannelHandlerContext ctx) {
    enter(Connections.Phase.RECEIVING);
    startClock(ctx, limits.receive().toNanos());
    ctx.read();
  }

  /**
   * Closes the connection after {@code nanos} unless the clock is stopped before; {@link
   * #channelInactive} does the rest.
   */
  private void startClock(ChannelHandlerContext ctx, long nanos) {
    stopClock();
    clock =
        ctx.executor().schedule(() -> Sockets.close(ctx.channel()), nanos, TimeUnit.NANOSECONDS);
  }

  private void stopClock() {
    var running = clock;
    if (running != null) {
      running.cancel(false);
      clock = null;
    }
  }

  @Override
  protected void channelRead0(ChannelHandlerContext ctx, FullHttpRequest request) {
    var writer = new HttpAnswerWriter(ctx.channel(), limits.stall(), HttpUtil.isKeepAlive(request));
    var refusal = refusal(request.decoderResult());
    if (refusal != 0) {
      ctx.writeAndFlush(writer.whole(HttpAnswer.text(refusal, ""), false))
          .addListener(ChannelFutureListener.CLOSE);
      return;
    }
    var head = head(request);
    var fault = HeadFault.in(head);
    if (fault != null) {
      ctx.writeAndFlush(writer.whole(HttpAnswer.text(fault.status(), fault.message()), false))
          .addListener(ChannelFutureListener.CLOSE);
      return;
    }
    enter(Connections.Phase.ANSWERING);
    startClock(ctx, limits.handle().toNanos());
    var call = call(ctx, head, request);
    try {
      work = threads.submit(() -> work(ctx, call, writer));
    } catch (RejectedExecutionException e) {
      Sockets.close(ctx.channel()); // the server is being closed
    }
  }

  /** Returns the status for a request that the decoder could not read, 0 when it could. */
  private static int refusal(DecoderResult read) {
    if (read.isSuccess()) {
      return 0;
    }
    return switch (read.cause()) {
      case TooLongHttpLineException _ -> 414;
      case TooLongHttpHeaderException _ -> 431;
      default -> 400;
    };
  }

  private static RequestHead head(FullHttpRequest request) {
    var fields = new RequestHead.Fields();
    for (var header : request.headers()) {
      fields.add(header.getKey(), header.getValue());
    }
    return fields.head(request.method().name(), request.protocolVersion().text());
  }

  private static HttpCall call(
      ChannelHandlerContext ctx, RequestHead head, FullHttpRequest request) {
    var uri = request.uri();
    int query = uri.indexOf('?');
    return new HttpCall(
        head,
        query < 0 ? uri : uri.substring(0, query),
        ((InetSocketAddress) ctx.channel().remoteAddress()).getAddress(),
        ByteBufUtil.getBytes(request.content()));
  }

  /** Runs the handler and writes its answer, on a virtual thread. */
  private void work(ChannelHandlerContext ctx, HttpCall call, HttpAnswerWriter writer) {
    boolean reusable = false;
    try {
      var answer = answer(call);
      enter(Connections.Phase.SENDING);
      reusable = writer.write(answer);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      boolean again = reusable;
      ctx.executor().execute(() -> answered(ctx, again));
    }
  }

  private HttpAnswer answer(HttpCall call) throws InterruptedException {
    try {
      return handler.answer(call);
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception e) {
      LOG.log(System.Logger.Level.WARNING, call.method() + " " + call.path() + " failed", e);
      return HttpAnswer.text(500, "Internal server error");
    }
  }

  private void answered(ChannelHandlerContext ctx, boolean reusable) {
    stopClock();
    freeBody();
    work = null;
    if (!ctx.channel().isActive()) {
      return;
    }
    if (reusable) {
      receive(ctx);
    } else {
      Sockets.close(ctx.channel());
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    stopClock();
    var running = work;
    if (running != null) {
      running.cancel(true);
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    LOG.log(System.Logger.Level.DEBUG, "an HTTP connection failed: {0}", cause.toString());
    Sockets.close(ctx.channel());
  }
}
