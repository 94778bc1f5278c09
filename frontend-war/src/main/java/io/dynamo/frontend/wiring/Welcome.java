package io.dynamo.frontend.wiring;

import io.dynamo.frontend.catalog.ModelCatalog;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Tells the person at the console, once, where to send a first request: as soon as a model can be
 * asked, and after the server's own lines. Goes to standard output, because the server shows that
 * at every log level.
 */
final class Welcome {
  private static final long FIRST_LOOK_MILLIS = 1000; // the server says last that it is ready
  private static final long LOOK_MILLIS = 250;

  private final String address;
  private final @Nullable InetSocketAddress status;
  private final ModelCatalog catalog;
  private final PrintStream console;
  private final Future<?> looking;

  /**
   * @param status where the status server listens; null when there is none
   */
  Welcome(
      String address,
      @Nullable InetSocketAddress status,
      ModelCatalog catalog,
      ScheduledExecutorService timer,
      PrintStream console) {
    this.address = address;
    this.status = status;
    this.catalog = catalog;
    this.console = console;
    this.looking =
        timer.scheduleWithFixedDelay(
            this::look, FIRST_LOOK_MILLIS, LOOK_MILLIS, TimeUnit.MILLISECONDS);
  }

  private void look() {
    var models = catalog.models();
    if (!models.isEmpty()) {
      console.println(text(address, status, models.getFirst().name()));
      looking.cancel(false);
    }
  }

  static String text(String address, @Nullable InetSocketAddress status, String model) {
    var text =
        """

        Dynamo serves "%2$s" at %1$s. Ask it:

          curl -N %1$s/v1/chat/completions -H 'content-type: application/json' \\
            -d '{"model":"%2$s","stream":true,"messages":[{"role":"user","content":"Hello"}]}'

        Models %1$s/v1/models, health %1$s/health, metrics %1$s/metrics, API %1$s/openapi/ui
        """
            .formatted(address, model);
    return status == null
        ? text
        : text
            + "Status server http://%s:%d: /health, /live, /metrics with Dynamo's names%n"
                .formatted(host(status), status.getPort());
  }

  private static String host(InetSocketAddress at) {
    var host = at.getAddress().getHostAddress();
    return host.contains(":") ? "[" + host + "]" : host;
  }

  /** Stops looking. */
  void cancel() {
    looking.cancel(false);
  }
}
