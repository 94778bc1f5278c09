package io.dynamo.worker.wiring;

import io.dynamo.config.Settings;
import io.dynamo.config.plane.DiscoverySettings;
import io.dynamo.discovery.TransportAddress;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Prints on the console of a server without a frontend what its workers serve and where, once: when
 * all of them are ready, and after the server's own lines. Uses standard output, which the server
 * shows at every log level.
 */
final class WorkerBanner {
  private static final long FIRST_LOOK_MILLIS = 1000; // the server says last that it is ready
  private static final long LOOK_MILLIS = 250;

  /**
   * A model that is served.
   *
   * @param engine as the setting names it
   * @param address where requests reach it
   */
  record ServedModel(String name, String engine, int ranks, TransportAddress address) {
    @Override
    public String toString() {
      return "\"%s\": engine %s, %d %s, requests at %s"
          .formatted(
              name,
              engine,
              ranks,
              ranks == 1 ? "rank" : "ranks",
              address.each().stream()
                  .map(WorkerBanner::shown)
                  .collect(Collectors.joining(" and ")));
    }
  }

  private final Supplier<@Nullable String> text;
  private final PrintStream console;
  private final Future<?> looking;

  /**
   * @param text null until all workers are ready
   */
  WorkerBanner(
      Supplier<@Nullable String> text, ScheduledExecutorService timer, PrintStream console) {
    this.text = text;
    this.console = console;
    this.looking =
        timer.scheduleWithFixedDelay(
            this::look, FIRST_LOOK_MILLIS, LOOK_MILLIS, TimeUnit.MILLISECONDS);
  }

  private void look() {
    var ready = text.get();
    if (ready != null) {
      console.println(ready);
      looking.cancel(false);
    }
  }

  /** Prints nothing from now on. */
  void cancel() {
    looking.cancel(false);
  }

  /**
   * @param status where the status server listens; null when there is none
   */
  static String text(
      Settings settings, List<ServedModel> models, @Nullable InetSocketAddress status) {
    var server = settings.server();
    var url =
        "%s://%s:%d"
            .formatted(server.httpTls().scheme(), bracketed(server.httpHost()), server.httpPort());
    var lines = new ArrayList<String>();
    lines.add("");
    lines.add("Dynamo's worker serves");
    models.forEach(model -> lines.add("  " + model));
    lines.add("");
    lines.add(
        "Discovery %s, events over %s"
            .formatted(
                shown(settings.discovery()),
                settings.event().plane().name().toLowerCase(Locale.ROOT)));
    lines.add("Health %s/health, metrics %s/metrics".formatted(url, url));
    if (status != null) {
      lines.add(
          "Status server http://%s:%d: /health, /live, /metrics with Dynamo's names"
              .formatted(bracketed(status.getAddress().getHostAddress()), status.getPort()));
    }
    lines.add("");
    return String.join("\n", lines);
  }

  private static String shown(TransportAddress address) {
    return switch (address) {
      case TransportAddress.Tcp tcp -> "tcp://" + tcp.address();
      case TransportAddress.Http2 http2 ->
          (http2.secure() ? "https://" : "http://") + http2.address();
      case TransportAddress.Nats nats -> "the NATS subject " + nats.subject();
      case TransportAddress.Several several -> throw several.unchosen();
    };
  }

  private static String shown(DiscoverySettings discovery) {
    return switch (discovery.backend()) {
      case MEMORY -> "in memory, where no frontend finds this worker: set dynamo.discovery.backend";
      case FILE -> "by the folder " + discovery.fileRoot();
      case ETCD ->
          "by etcd at "
              + discovery.etcd().endpoints().stream()
                  .map(String::valueOf)
                  .collect(Collectors.joining(", "));
      case KUBERNETES -> "by the Kubernetes API";
    };
  }

  private static String bracketed(String host) {
    return host.contains(":") ? "[" + host + "]" : host;
  }
}
