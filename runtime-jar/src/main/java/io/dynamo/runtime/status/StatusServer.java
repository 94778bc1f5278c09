package io.dynamo.runtime.status;

import io.dynamo.config.watch.StatusSettings;
import io.dynamo.net.UrlHost;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.pipeline.http.HttpLimits;
import io.dynamo.pipeline.http.HttpServer;
import io.dynamo.runtime.guard.AdminGuard;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The HTTP server of the system port. Safe for concurrent use. */
public final class StatusServer implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(StatusServer.class.getName());

  private final SystemStatus status;
  private final HttpServer server;

  /**
   * Binds the port and serves from now on; must not be called on an event loop.
   *
   * @param loops event loops, closed by the caller after this server
   * @param planes address where other processes reach this one's planes; files are announced only
   *     to processes that can reach them
   * @param adminNames host names under which commands are accepted, besides addresses
   * @param metrics writes the text of {@code /metrics}; called on virtual threads
   * @throws IllegalStateException when the address cannot be bound
   */
  public StatusServer(
      StatusSettings settings,
      EventLoops loops,
      InetAddress planes,
      SystemStatus status,
      List<String> adminNames,
      Supplier<String> metrics) {
    this.status = status;
    var host = InetAddress.ofLiteral(settings.host());
    var guard = new AdminGuard(!host.isLoopbackAddress(), adminNames);
    server =
        new HttpServer(
            loops,
            new InetSocketAddress(host, settings.port()),
            HttpLimits.STANDARD,
            new StatusRoutes(settings, status, metrics, guard));
    status.bound(server.address());
    var at = reachable(server.address(), planes);
    status.files().announce(settings.selfHost() ? at : null);
    LOG.log(
        Level.INFO,
        "status server listens on {0}: {1}, {2}, /metrics",
        uri(server.address().getAddress(), server.address().getPort()),
        settings.healthPath(),
        settings.livePath());
  }

  /**
   * Returns the address for other processes; null when the planes can be reached from other
   * machines and the status server cannot.
   */
  private static @Nullable URI reachable(InetSocketAddress bound, InetAddress planes) {
    var address = bound.getAddress();
    if (address.isLoopbackAddress() && !planes.isLoopbackAddress()) {
      return null;
    }
    return uri(address.isAnyLocalAddress() ? planes : address, bound.getPort());
  }

  private static URI uri(InetAddress host, int port) {
    return URI.create("http://" + UrlHost.of(host) + ":" + port);
  }

  /** Returns the address that it listens on. */
  public InetSocketAddress address() {
    return server.address();
  }

  @Override
  public void close() {
    status.bound(null);
    status.files().announce(null);
    server.close();
  }
}
