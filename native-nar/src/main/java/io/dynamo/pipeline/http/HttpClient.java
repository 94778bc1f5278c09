package io.dynamo.pipeline.http;

import io.dynamo.pipeline.EventLoops;
import io.dynamo.pipeline.Sockets;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.URI;
import java.net.UnknownHostException;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * Sends HTTP/1.1 requests to one server, on the shared event loops: a request that is sent on a
 * loop is answered there, so its answer passes no other thread. Connections are kept for the next
 * requests of their loop, and there are as many as requests at a time. Follows no redirection and
 * uses no proxy. Safe for concurrent use.
 */
public final class HttpClient implements AutoCloseable {
  private static final Duration CLOSE = Duration.ofSeconds(5);
  private static final int HTTPS = 443;
  private static final int HTTP = 80;
  private static final int HEAD_BYTES = 64 * 1024;
  private static final int PART_BYTES = 64 * 1024; // of a body

  private final EventLoops loops;
  private final EventLoop home; // of callers on other threads, who share its connections
  private final URI server;
  private final int port;
  private final String name; // of the host, without the brackets of an address
  private final String host; // as requests name it
  private final @Nullable SSLContext tls;
  private final Duration connectTimeout;
  private final Map<EventLoop, IdleConnections> idle = new ConcurrentHashMap<>(); // one per loop
  private final ChannelGroup open = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE, true);

  /**
   * @param loops owned by the caller, who closes them after this client
   * @param server scheme, host and port
   * @param tls how to trust an {@code https} server; null trusts as the JVM does
   * @throws IllegalArgumentException when {@code server} names no host
   */
  public HttpClient(
      EventLoops loops, URI server, @Nullable SSLContext tls, Duration connectTimeout) {
    var found = server.getHost();
    if (found == null) {
      throw new IllegalArgumentException("\"%s\" names no host".formatted(server));
    }
    boolean secured = "https".equalsIgnoreCase(server.getScheme());
    this.loops = loops;
    this.home = loops.next();
    this.server = server;
    this.name = found.startsWith("[") ? found.substring(1, found.length() - 1) : found;
    this.port = server.getPort() >= 0 ? server.getPort() : secured ? HTTPS : HTTP;
    this.host = server.getPort() >= 0 ? found + ":" + server.getPort() : found;
    this.tls = secured ? tls == null ? defaultTls() : tls : null;
    this.connectTimeout = connectTimeout;
  }

  private static SSLContext defaultTls() {
    try {
      return SSLContext.getDefault();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("the JVM trusts nobody", e);
    }
  }

  /**
   * Sends a request. Does not wait.
   *
   * @param window calls of {@link AnswerListener#content} that are asked for from the start; some
   *     more than are asked for may come, of what was read already
   */
  public SentRequest send(ClientRequest request, int window, AnswerListener listener) {
    var call = new ClientCall(this, loops.near(home), request, window, listener);
    call.run(call::start);
    return call;
  }

  /** Sends the request of {@code call} on a connection that waits, or on a new one; on its loop. */
  void serve(ClientCall call) {
    var pool = idle.computeIfAbsent(call.loop(), _ -> new IdleConnections());
    var free = pool.take();
    if (free != null) {
      call.take(free);
      return;
    }
    try {
      connect(call, pool, InetAddress.ofLiteral(name));
    } catch (IllegalArgumentException isName) {
      // looked up elsewhere: that waits for the system
      Thread.ofVirtual().name("dynamo-lookup").start(() -> lookUp(call, pool));
    }
  }

  private void lookUp(ClientCall call, IdleConnections pool) {
    try {
      var address = InetAddress.getByName(name);
      call.run(() -> connect(call, pool, address));
    } catch (UnknownHostException | RuntimeException e) {
      var failure = new ConnectException("the host " + name + " is not known");
      failure.initCause(e);
      call.run(() -> call.lost(failure, false));
    }
  }

  private void connect(ClientCall call, IdleConnections pool, InetAddress to) {
    if (call.isOver()) {
      return; // cancelled while the host was looked up
    }
    loops
        .connect(
            call.loop(),
            new InetSocketAddress(to, port),
            connectTimeout,
            new ChannelInitializer<>() {
              @Override
              protected void initChannel(Channel channel) {
                prepare(channel, pool);
              }
            })
        .addListener(
            // a channel that could not be made reports that on a thread of its own
            (ChannelFuture connected) -> call.run(() -> connected(call, connected)));
  }

  private static void connected(ClientCall call, ChannelFuture result) {
    if (!result.isSuccess()) {
      call.lost(io(result.cause()), false);
    } else if (call.isOver()) {
      Sockets.close(result.channel());
    } else {
      call.take(result.channel().pipeline().get(ClientConnection.class));
    }
  }

  /**
   * The failure of a connection that was not made: that no way leads to the host is one of those.
   */
  private static IOException io(Throwable cause) {
    if (cause instanceof NoRouteToHostException unreachable) {
      var failure = new ConnectException(unreachable.getMessage());
      failure.initCause(unreachable);
      return failure;
    }
    return cause instanceof IOException same ? same : new IOException(cause);
  }

  private void prepare(Channel channel, IdleConnections pool) {
    channel.config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, false);
    if (tls != null) {
      var engine = tls.createSSLEngine(name, port);
      engine.setUseClientMode(true);
      var parameters = engine.getSSLParameters();
      parameters.setEndpointIdentificationAlgorithm("HTTPS");
      engine.setSSLParameters(parameters);
      var secured = new SslHandler(engine);
      secured.setHandshakeTimeoutMillis(connectTimeout.toMillis());
      channel.pipeline().addLast(secured);
    }
    channel
        .pipeline()
        .addLast(
            new HttpClientCodec(
                new HttpDecoderConfig()
                    .setMaxInitialLineLength(HEAD_BYTES)
                    .setMaxHeaderSize(HEAD_BYTES)
                    .setMaxChunkSize(PART_BYTES),
                false,
                false),
            new ClientConnection(channel, pool, host));
    open.add(channel); // closes it when this client is closed
  }

  /** Returns the path and query of a request. */
  public String target(String path) {
    var at = server.resolve(path);
    return at.getRawQuery() == null ? at.getRawPath() : at.getRawPath() + "?" + at.getRawQuery();
  }

  /**
   * Closes all connections, whose answers fail. Idempotent; must not be called on an event loop.
   */
  @Override
  public void close() {
    if (!open.close().awaitUninterruptibly(CLOSE.toMillis())) {
      System.getLogger(HttpClient.class.getName())
          .log(System.Logger.Level.WARNING, "connections to {0} are open after {1}", server, CLOSE);
    }
  }
}
