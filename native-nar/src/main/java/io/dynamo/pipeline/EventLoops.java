package io.dynamo.pipeline;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ReflectiveChannelFactory;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The threads that move bytes on all of this project's sockets: epoll where its library loads, else
 * NIO. Safe for concurrent use. Blocking code must not run on them.
 */
public final class EventLoops implements AutoCloseable {
  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(5);
  private static final int BACKLOG = 4096;

  static {
    NettyLogs.install();
  }

  private final EventLoopGroup group;
  private final Class<? extends SocketChannel> client;
  private final Class<? extends ServerChannel> server;
  private final Map<ChannelOption<Integer>, Integer> probes;

  /**
   * @param threads number of threads; 0 takes twice the processors
   */
  public EventLoops(int threads) {
    this(threads, Epoll.isAvailable());
  }

  EventLoops(int threads, boolean epoll) {
    if (threads < 0) {
      throw new IllegalArgumentException("event loop threads " + threads + " is below 0");
    }
    IoHandlerFactory io = epoll ? EpollIoHandler.newFactory() : NioIoHandler.newFactory();
    client = epoll ? EpollSocketChannel.class : NioSocketChannel.class;
    server = epoll ? EpollServerSocketChannel.class : NioServerSocketChannel.class;
    probes = KeepAlive.times(epoll);
    group =
        new MultiThreadIoEventLoopGroup(threads, new DefaultThreadFactory("dynamo-io", true), io);
  }

  /** Returns one of the loops, in turn. */
  public EventLoop next() {
    return group.next();
  }

  /**
   * Returns the loop that the caller runs on, so that what it starts needs no other thread; one of
   * the loops in turn for other threads.
   */
  public EventLoop near() {
    var own = own();
    return own == null ? group.next() : own;
  }

  /** Returns the loop that the caller runs on; {@code home} for other threads. */
  public EventLoop near(EventLoop home) {
    var own = own();
    return own == null ? home : own;
  }

  private @Nullable EventLoop own() {
    for (var each : group) {
      if (each.inEventLoop()) {
        return (EventLoop) each;
      }
    }
    return null;
  }

  /** Returns the loops, for a library that brings handlers of its own. */
  public EventLoopGroup group() {
    return group;
  }

  /**
   * Returns a maker of listening channels, for a library that binds them itself.
   *
   * @param limit counts the accepted connections, and closes those above it
   */
  public ChannelFactory<ServerChannel> listeners(ConnectionLimit limit) {
    var channels = new ReflectiveChannelFactory<ServerChannel>(server);
    return () -> {
      var channel = channels.newChannel();
      channel.pipeline().addLast(new LimitedAccepting(limit));
      return channel;
    };
  }

  /** Takes accepted connections above a limit out of the way before anybody serves them. */
  private static final class LimitedAccepting extends ChannelInboundHandlerAdapter {
    private final ConnectionLimit limit;

    LimitedAccepting(ConnectionLimit limit) {
      this.limit = limit;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object accepted) {
      if (limit.admits((Channel) accepted)) {
        ctx.fireChannelRead(accepted);
      }
    }
  }

  /**
   * Binds a listener and waits for it, so it must not be called on an event loop.
   *
   * @throws IllegalStateException when the address cannot be bound
   */
  public Channel listen(InetSocketAddress address, ChannelHandler accepted) {
    return listen(address, accepted, CLOSE_LIMIT);
  }

  Channel listen(InetSocketAddress address, ChannelHandler accepted, Duration patience) {
    var bootstrap =
        new ServerBootstrap()
            .group(group)
            .channel(server)
            .option(ChannelOption.SO_BACKLOG, BACKLOG)
            .option(ChannelOption.SO_REUSEADDR, true)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childOption(ChannelOption.SO_KEEPALIVE, true)
            .childHandler(accepted);
    probes.forEach(bootstrap::childOption);
    var bound = bootstrap.bind(address);
    if (!bound.awaitUninterruptibly(patience.toMillis()) || !bound.isSuccess()) {
      bound.addListener(_ -> Sockets.close(bound.channel())); // it may still be bound later
      throw new IllegalStateException(
          "cannot listen on %s; is the port in use, and the address one of this host?"
              .formatted(address),
          bound.cause());
    }
    return bound.channel();
  }

  /** Connects to {@code address} on {@code loop}. */
  public ChannelFuture connect(
      EventLoop loop, InetSocketAddress address, Duration timeout, ChannelHandler handler) {
    var bootstrap =
        new Bootstrap()
            .group(loop)
            .channel(client)
            .option(ChannelOption.TCP_NODELAY, true)
            .option(ChannelOption.SO_KEEPALIVE, true)
            .option(ChannelOption.ALLOW_HALF_CLOSURE, true)
            .option(
                ChannelOption.CONNECT_TIMEOUT_MILLIS,
                Math.clamp(timeout.toMillis(), 1, Integer.MAX_VALUE))
            .handler(handler);
    probes.forEach(bootstrap::option);
    return bootstrap.connect(address);
  }

  /** Closes every socket and ends the threads, within seconds. Idempotent. */
  @Override
  public void close() {
    var ended = group.shutdownGracefully(0, CLOSE_LIMIT.toMillis() / 2, TimeUnit.MILLISECONDS);
    boolean interrupted = Thread.interrupted();
    try {
      if (!ended.await(CLOSE_LIMIT.toMillis())) {
        System.getLogger(EventLoops.class.getName())
            .log(System.Logger.Level.WARNING, "event loops still run after {0}", CLOSE_LIMIT);
      }
    } catch (InterruptedException e) {
      interrupted = true;
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Waits, for seconds at most, until the helper thread that all loops of the process share has
   * ended. It does so by itself after a quiet second; until then it holds the classes of an
   * application that was taken away.
   */
  public static void awaitHelperThread() throws InterruptedException {
    try {
      if (!GlobalEventExecutor.INSTANCE.awaitInactivity(
          CLOSE_LIMIT.toMillis(), TimeUnit.MILLISECONDS)) {
        System.getLogger(EventLoops.class.getName())
            .log(
                System.Logger.Level.WARNING,
                "Netty''s helper thread still runs after {0}",
                CLOSE_LIMIT);
      }
    } catch (IllegalStateException e) {
      return; // it never started
    }
  }
}
