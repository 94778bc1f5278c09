package io.dynamo.runtime.status;

import io.dynamo.config.StatusSettings;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.pipeline.http.HttpLimits;
import io.dynamo.pipeline.http.HttpServer;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.function.Supplier;

/** The HTTP server of the system port. Safe for concurrent use. */
public final class StatusServer implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(StatusServer.class.getName());

  private final SystemStatus status;
  private final HttpServer server;

  /**
   * Binds and answers from now on; must not be called on an event loop.
   *
   * @param loops stay the caller's to close, after this
   * @param metrics writes the text of {@code /metrics}; called on virtual threads
   * @throws IllegalStateException when the address cannot be bound
   */
  public StatusServer(
      StatusSettings settings, EventLoops loops, SystemStatus status, Supplier<String> metrics) {
    this.status = status;
    server =
        new HttpServer(
            loops,
            new InetSocketAddress(InetAddress.ofLiteral(settings.host()), settings.port()),
            HttpLimits.STANDARD,
            new StatusRoutes(settings, status, metrics));
    status.bound(server.address());
    LOG.log(
        Level.INFO,
        "status server listens on {0}: {1}, {2}, /metrics",
        server.address(),
        settings.healthPath(),
        settings.livePath());
  }

  /** Where it listens. */
  public InetSocketAddress address() {
    return server.address();
  }

  @Override
  public void close() {
    status.bound(null);
    server.close();
  }
}
