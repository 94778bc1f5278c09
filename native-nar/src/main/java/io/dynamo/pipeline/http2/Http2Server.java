package io.dynamo.pipeline.http2;

import io.dynamo.pipeline.ConnectionLimit;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.pipeline.Sockets;
import io.dynamo.pipeline.TlsContext;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * Accepts HTTP/2 connections and hands their requests to a handler. In the clear it expects a
 * client that knows it speaks HTTP/2: there is no upgrade. Safe for concurrent use.
 */
public final class Http2Server implements AutoCloseable {
  private static final long CLOSE_MILLIS = 2_000;

  private final ChannelGroup open = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE, true);
  private final Channel listener;

  /**
   * Binds, so it must not be called on an event loop.
   *
   * @param tls owned and closed by the caller; null for unencrypted connections
   * @param address to listen on; port 0 lets the system choose
   * @param connections bounds the number of open connections
   * @throws IllegalStateException when the address cannot be bound
   */
  public Http2Server(
      EventLoops loops,
      @Nullable TlsContext tls,
      InetSocketAddress address,
      ConnectionLimit connections,
      Http2Bounds bounds,
      Http2Handler handler) {
    listener =
        loops.listen(
            address,
            new ChannelInitializer<>() {
              @Override
              protected void initChannel(Channel channel) {
                if (!connections.admits(channel)) {
                  return;
                }
                open.add(channel);
                if (tls != null) { // first: what follows writes as soon as it is added
                  tls.secure(channel, null);
                }
                Http2Bounds.addServer(channel.pipeline(), streams(handler, bounds));
                channel.pipeline().addLast(new Connection());
              }
            });
  }

  private static ChannelInitializer<Channel> streams(Http2Handler handler, Http2Bounds bounds) {
    return new ChannelInitializer<>() {
      @Override
      protected void initChannel(Channel stream) {
        var frames = new DataFrames();
        stream.pipeline().addLast(frames, new ServedStream(stream, frames, handler, bounds));
      }
    };
  }

  /** Opens the connection's window and drops frames that belong to no stream. */
  private static final class Connection extends ChannelInboundHandlerAdapter {
    @Override
    public void channelActive(ChannelHandlerContext ctx) throws Exception {
      var _ = ctx.writeAndFlush(Http2Bounds.connectionWindow());
      super.channelActive(ctx);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
      ReferenceCountUtil.release(message);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
      System.getLogger(Http2Server.class.getName())
          .log(System.Logger.Level.DEBUG, "a request connection failed: {0}", cause.toString());
      Sockets.close(ctx.channel());
    }
  }

  /** Returns the address on which it listens. */
  public InetSocketAddress address() {
    return (InetSocketAddress) listener.localAddress();
  }

  /** Stops accepting connections. Idempotent; must not be called on an event loop. */
  public void closeListener() {
    listener.close().awaitUninterruptibly(CLOSE_MILLIS);
  }

  /** Closes the listener and every connection. Idempotent; must not be called on an event loop. */
  @Override
  public void close() {
    closeListener();
    open.close().awaitUninterruptibly(CLOSE_MILLIS);
  }
}
