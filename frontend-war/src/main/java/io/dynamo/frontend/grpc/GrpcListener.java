package io.dynamo.frontend.grpc;

import io.dynamo.concurrent.Deadline;
import io.dynamo.config.frontend.GrpcSettings;
import io.dynamo.frontend.admission.BodyBudget;
import io.dynamo.pipeline.ConnectionLimit;
import io.dynamo.pipeline.EventLoops;
import io.grpc.DecompressorRegistry;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.NettyServerBuilder;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * An open gRPC port: grpc-java's server on event loops of its own. Safe for concurrent use; {@link
 * #stop} blocks.
 */
final class GrpcListener {
  private static final System.Logger LOG = System.getLogger(GrpcListener.class.getName());
  private static final int LOOPS = 2;
  private static final Duration PROBE_ANSWER = Duration.ofSeconds(20); // at most
  private static final Duration HANDSHAKE = Duration.ofSeconds(30); // as on the HTTP port
  private static final Duration CLIENT_PROBES = Duration.ofSeconds(10); // more often is abuse
  private static final int METADATA_BYTES = 16 << 10;
  private static final int RESETS = 1000; // of calls in RESET_SECONDS, on one connection
  private static final int RESET_SECONDS = 10;

  private final Server server;
  private final EventLoops loops;
  private final @Nullable PortTls tls;

  /**
   * The limits for clients.
   *
   * @param settings of the port
   * @param messageBytes of one message
   * @param shares opens the memory of the messages of a call
   */
  record Bounds(GrpcSettings settings, int messageBytes, Supplier<BodyBudget.Share> shares) {}

  private GrpcListener(Server server, EventLoops loops, @Nullable PortTls tls) {
    this.server = server;
    this.loops = loops;
    this.tls = tls;
  }

  /**
   * Opens a port.
   *
   * @param tls closed with the port, also when it cannot be opened; null serves in the clear
   * @param executor runs what answers calls; may block
   * @throws IllegalStateException when it cannot be bound
   */
  static GrpcListener open(
      InetSocketAddress address,
      Bounds bounds,
      @Nullable PortTls tls,
      List<ServerServiceDefinition> services,
      Executor executor) {
    GrpcLogs.quieten();
    var loops = new EventLoops(LOOPS);
    var builder = builder(address, bounds, loops, executor).addServices(services);
    if (tls != null) {
      builder.sslContext(tls);
    }
    var opening = new GrpcListener(builder.build(), loops, tls);
    try {
      opening.server.start();
      return opening;
    } catch (IOException e) {
      opening.release();
      throw new IllegalStateException(
          "the gRPC port cannot listen on %s; is dynamo.grpc.port in use, and dynamo.http.host an address of this host?"
              .formatted(address),
          e);
    }
  }

  private static NettyServerBuilder builder(
      InetSocketAddress address, Bounds bounds, EventLoops loops, Executor executor) {
    var settings = bounds.settings();
    var limit =
        new ConnectionLimit(
            settings.maxConnections(),
            () -> LOG.log(Level.DEBUG, "a connection above dynamo.grpc.max-connections is closed"));
    long keepAlive = settings.keepAlive().toMillis();
    return NettyServerBuilder.forAddress(address)
        .bossEventLoopGroup(loops.group())
        .workerEventLoopGroup(loops.group())
        .channelFactory(loops.listeners(limit))
        .decompressorRegistry(DecompressorRegistry.emptyInstance()) // as on the HTTP port
        .addStreamTracerFactory(new Arrival.Factory(bounds.shares(), executor))
        .executor(executor)
        .flowControlWindow(settings.windowBytes())
        .handshakeTimeout(HANDSHAKE.toSeconds(), TimeUnit.SECONDS)
        .keepAliveTime(keepAlive, TimeUnit.MILLISECONDS)
        .keepAliveTimeout(Math.min(PROBE_ANSWER.toMillis(), keepAlive), TimeUnit.MILLISECONDS)
        .maxConcurrentCallsPerConnection(settings.maxStreams())
        .maxConnectionIdle(settings.idle().toMillis(), TimeUnit.MILLISECONDS)
        .maxInboundMessageSize(bounds.messageBytes())
        .maxInboundMetadataSize(METADATA_BYTES)
        .maxRstFramesPerWindow(RESETS, RESET_SECONDS)
        .permitKeepAliveTime(CLIENT_PROBES.toSeconds(), TimeUnit.SECONDS)
        .permitKeepAliveWithoutCalls(true);
  }

  /** The number of the port. */
  int port() {
    return server.getPort();
  }

  /** Lets no further call in; those under way go on. */
  void drain() {
    server.shutdown();
  }

  /** Ends all calls and closes the port. */
  void stop(Deadline deadline) throws InterruptedException {
    try {
      server.shutdownNow();
      if (!server.awaitTermination(Math.max(0, deadline.remainingNanos()), TimeUnit.NANOSECONDS)) {
        LOG.log(Level.WARNING, "calls at the gRPC port did not end in time and are left behind");
      }
    } finally {
      release();
    }
  }

  private void release() {
    if (tls != null) {
      tls.close();
    }
    loops.close();
    GrpcLogs.release();
  }
}
