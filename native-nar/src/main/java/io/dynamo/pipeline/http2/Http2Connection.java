package io.dynamo.pipeline.http2;

import io.dynamo.pipeline.EventLoops;
import io.dynamo.pipeline.Sockets;
import io.dynamo.pipeline.TlsContext;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http2.Http2GoAwayFrame;
import io.netty.handler.codec.http2.Http2SettingsFrame;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.handler.codec.http2.Http2StreamChannelBootstrap;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.handler.timeout.IdleStateHandler;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * One connection to a worker, with a stream for each request. Its state is confined to its event
 * loop; {@link #send} may be called from any thread.
 */
final class Http2Connection extends ChannelInboundHandlerAdapter {
  private static final int IDLE_SECONDS = 300;

  private final Http2Client client;
  private final EventLoop loop;
  private final InetSocketAddress worker;
  private final @Nullable TlsContext tls;
  private final Http2Bounds bounds;
  private final String authority;
  private final AtomicInteger load = new AtomicInteger(); // streams, open or waiting
  private final ArrayDeque<Http2Call> waiting = new ArrayDeque<>(); // for the connection
  private int maxStreams = Http2Bounds.MAX_STREAMS;
  private @Nullable Channel socket; // set once connected
  private @Nullable Throwable failure;
  private volatile boolean connecting = true; // until streams may be opened; written on the loop
  private boolean ended;

  Http2Connection(
      Http2Client client,
      EventLoop loop,
      InetSocketAddress worker,
      @Nullable TlsContext tls,
      Http2Bounds bounds) {
    this.client = client;
    this.loop = loop;
    this.worker = worker;
    this.tls = tls;
    this.bounds = bounds;
    var host = worker.getAddress().getHostAddress();
    authority = (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + worker.getPort();
  }

  void connect(EventLoops loops, Duration timeout) {
    loops
        .connect(
            loop,
            worker,
            timeout,
            new ChannelInitializer<Channel>() {
              @Override
              protected void initChannel(Channel connected) {
                connected.config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, false);
                if (tls != null) {
                  tls.secure(connected, worker);
                }
                Http2Bounds.addClient(connected.pipeline(), new RefusedStream());
                connected
                    .pipeline()
                    .addLast(new IdleStateHandler(0, 0, IDLE_SECONDS), Http2Connection.this);
              }
            })
        .addListener(
            connected -> {
              if (!connected.isSuccess()) {
                end(connected.cause());
              }
            });
  }

  /** Closes a stream that the server opens: there is none in this protocol. */
  private static final class RefusedStream extends ChannelInboundHandlerAdapter {
    @Override
    public boolean isSharable() {
      return true;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
      Sockets.close(ctx.channel());
    }
  }

  /** Returns the number of streams, with those that wait for the connection. */
  int load() {
    return load.get();
  }

  /** Whether it is still being opened, so that it cannot be stale. */
  boolean isConnecting() {
    return connecting;
  }

  /** Sends a request, waiting for the connection if necessary. */
  void send(Http2Call call) {
    boolean fresh = connecting;
    load.incrementAndGet();
    loop.execute(
        () -> {
          if (ended) {
            sendElsewhere(call, fresh);
          } else if (load.get() > maxStreams) {
            unload();
            call.outcome().busy(maxStreams);
          } else if (socket != null && !connecting) {
            open(socket, call, fresh);
          } else {
            waiting.add(call);
          }
        });
  }

  /**
   * Sends a request on another connection, because this one has not taken it. Each such step takes
   * a connection out of the pool, so there are no more of them than connections.
   *
   * @param fresh whether this connection was not stale, so that another would fail as well
   */
  private void sendElsewhere(Http2Call call, boolean fresh) {
    unload();
    if (fresh) {
      call.outcome().failed(why());
    } else {
      client.send(call, true);
    }
  }

  /** Records the end of a stream; the last one closes a connection that is draining. */
  private void unload() {
    if (load.decrementAndGet() == 0 && ended && socket != null) {
      Sockets.close(socket);
    }
  }

  private Throwable why() {
    return failure == null ? new IOException("the worker closed the connection") : failure;
  }

  private void open(Channel on, Http2Call call, boolean fresh) {
    new Http2StreamChannelBootstrap(on)
        .handler(new DataFrames())
        .open()
        .addListener(
            opened -> {
              if (opened.isSuccess()) {
                begin((Http2StreamChannel) opened.getNow(), call);
              } else {
                failure = failure == null ? opened.cause() : failure;
                leave();
                sendElsewhere(call, fresh);
              }
            });
  }

  private void begin(Http2StreamChannel stream, Http2Call call) {
    stream.closeFuture().addListener(_ -> unload());
    var request = call.request();
    try {
      var head = Heads.request(request, tls == null ? "http" : "https", authority);
      var called = new CalledStream(stream, bounds, call.answer(), call.outcome(), this::leave);
      stream.pipeline().addLast(called);
      called.send(head, request.control(), request.body());
    } catch (RuntimeException e) { // a header that HTTP does not allow
      Sockets.close(stream);
      call.outcome().failed(e);
    }
  }

  @Override
  public void channelActive(ChannelHandlerContext ctx) {
    socket = ctx.channel();
    var _ = ctx.writeAndFlush(Http2Bounds.connectionWindow());
    if (ended) {
      Sockets.close(ctx.channel());
    } else if (tls == null) {
      stand(ctx.channel());
    }
  }

  private void stand(Channel connected) {
    connecting = false;
    for (var call = waiting.poll(); call != null; call = waiting.poll()) {
      open(connected, call, true);
    }
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    if (message instanceof Http2SettingsFrame frame) {
      var most = frame.settings().maxConcurrentStreams();
      if (most != null) {
        maxStreams = (int) Math.min(most, Http2Bounds.MAX_STREAMS);
      }
    } else if (message instanceof Http2GoAwayFrame) {
      leave();
    }
    ReferenceCountUtil.release(message);
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
    if (event instanceof SslHandshakeCompletionEvent shaken) {
      if (!shaken.isSuccess()) {
        end(new IOException("no TLS: " + shaken.cause().getMessage(), shaken.cause()));
      } else if (!ended) {
        stand(ctx.channel());
      }
    } else if (event instanceof IdleStateEvent && load.get() == 0) {
      end(new IOException("the connection was idle"));
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    end(cause);
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    end(why());
  }

  void close() {
    loop.execute(() -> end(new IOException("the client is closed")));
  }

  /** Refuses new requests; running ones continue. */
  private void leave() {
    ended = true;
    client.forget(worker, this);
    if (load.get() == 0 && socket != null) {
      Sockets.close(socket);
    }
  }

  private void end(Throwable cause) {
    failure = failure == null ? cause : failure;
    leave();
    if (socket != null) {
      Sockets.close(socket);
    }
    for (var call = waiting.poll(); call != null; call = waiting.poll()) {
      sendElsewhere(call, true);
    }
  }
}
