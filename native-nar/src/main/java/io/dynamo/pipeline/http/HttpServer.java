package io.dynamo.pipeline.http;

import io.dynamo.pipeline.EventLoops;
import io.dynamo.pipeline.Sockets;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.flow.FlowControlHandler;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * Answers HTTP/1.1 requests: bytes move on the event loops, handlers run on virtual threads. A
 * connection is read only while no request of it is being answered, so a client that pipelines
 * delays only itself. Safe for concurrent use.
 */
public final class HttpServer implements AutoCloseable {
  private static final long CLOSE_MILLIS = 2_000;
  private static final int CHUNK_BYTES = 8 * 1024;

  private final HttpLimits limits;
  private final HttpHandler handler;
  private final ExecutorService threads =
      Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("http-", 0).factory());
  private final Connections connections;
  final ChannelGroup open = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE, true);
  private final Channel listener;

  /**
   * Binds, so it must not be called on an event loop.
   *
   * @param loops owned by the caller, who closes them after this server
   * @param address to listen on; port 0 lets the system choose
   * @throws IllegalStateException when the address cannot be bound
   */
  public HttpServer(
      EventLoops loops, InetSocketAddress address, HttpLimits limits, HttpHandler handler) {
    this.limits = limits;
    this.handler = handler;
    connections = new Connections(limits.maxConnections(), limits.maxTotalBodyBytes());
    listener =
        loops.listen(
            address,
            new ChannelInitializer<>() {
              @Override
              protected void initChannel(Channel channel) {
                accept(channel);
              }
            });
  }

  private void accept(Channel channel) {
    var connection = new HttpConnection(channel, limits, handler, threads, connections);
    if (!connections.admit(connection)) {
      Sockets.close(channel);
      return;
    }
    channel.closeFuture().addListener(_ -> connection.closed());
    open.add(channel);
    channel.config().setAutoRead(false);
    channel
        .pipeline()
        .addLast(
            codec(limits.maxHeaderBytes()),
            new FlowControlHandler(),
            new WholeRequests(limits.maxBodyBytes(), connection::takeBody),
            connection);
  }

  /** Returns the codec that reads requests and writes answers. */
  static HttpServerCodec codec(int maxHeaderBytes) {
    return new HttpServerCodec(
        new HttpDecoderConfig()
            .setMaxInitialLineLength(maxHeaderBytes)
            .setMaxHeaderSize(maxHeaderBytes)
            .setMaxChunkSize(CHUNK_BYTES)
            .setStrictLineParsing(true)
            .setUseRfc9112TransferEncoding(true));
  }

  /** Returns the address that this server listens on. */
  public InetSocketAddress address() {
    return (InetSocketAddress) listener.localAddress();
  }

  /** Returns the number of open connections. */
  public int connections() {
    return connections.size();
  }

  /**
   * Closes the listener and every connection and interrupts the handlers; waits for them a bounded
   * time. Idempotent; must not be called on an event loop.
   */
  @Override
  public void close() {
    listener.close().awaitUninterruptibly(CLOSE_MILLIS);
    open.close().awaitUninterruptibly(CLOSE_MILLIS);
    threads.shutdownNow();
    try {
      if (!threads.awaitTermination(CLOSE_MILLIS, TimeUnit.MILLISECONDS)) {
        System.getLogger(HttpServer.class.getName())
            .log(System.Logger.Level.WARNING, "an HTTP handler ignores its interrupt");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
