package io.dynamo.worker.wiring;

import io.dynamo.config.Settings;
import io.dynamo.config.plane.DiscoverySettings;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.net.UrlHost;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Writes the first lines of a server without a frontend: the models and addresses of its workers.
 */
final class WorkerBanner {
  private WorkerBanner() {}

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

  /**
   * @param status where the status server listens; null when there is none
   */
  static String text(
      Settings settings, List<ServedModel> models, @Nullable InetSocketAddress status) {
    var url = settings.server().httpUrl();
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
          "Status server http://%s: /health, /live, /metrics with Dynamo's names"
              .formatted(UrlHost.withPort(status)));
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
}
