package io.dynamo.frontend.wiring;

import io.dynamo.config.HttpTlsSettings;
import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.net.UrlHost;
import java.net.InetSocketAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Writes the console's first lines: an example of a first request, and the pages of this server.
 */
final class Welcome {
  private Welcome() {}

  /**
   * @param address the URL of the HTTP port
   * @param status where the status server listens; null when there is none
   * @param models at least one
   */
  static String text(
      String address,
      HttpTlsSettings tls,
      @Nullable InetSocketAddress status,
      List<ServedModel> models) {
    var chat = first(models, "Chat");
    var model = chat == null ? first(models, "Completions") : chat;
    var text =
        """

        Dynamo serves "%2$s" at %1$s.%3$s

        Console %1$s/console, models %1$s/v1/models, health %1$s/health, metrics %1$s/metrics, API %1$s/docs
        """
            .formatted(
                address,
                (model == null ? models.getFirst() : model).name(),
                model == null ? "" : request(address, tls, model.name(), chat != null));
    return status == null
        ? text
        : text
            + "Status server http://%s: /health, /live, /metrics with Dynamo's names%n"
                .formatted(UrlHost.withPort(status));
  }

  /** The first model of a type; null when there is none. */
  private static @Nullable ServedModel first(List<ServedModel> models, String type) {
    for (var model : models) {
      if (model.card().modelTypes().contains(type)) {
        return model;
      }
    }
    return null;
  }

  private static String request(String address, HttpTlsSettings tls, String model, boolean chat) {
    var prompt =
        chat ? "\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}]" : "\"prompt\":\"Hello\"";
    return " Ask it%s:%n%n  curl -N%s %s/v1/%s -H 'content-type: application/json' \\%n    -d '{\"model\":\"%s\",\"stream\":true,%s}'"
        .formatted(
            files(tls),
            options(tls),
            address,
            chat ? "chat/completions" : "completions",
            model,
            prompt);
  }

  /** Describes the files that the options name; the client's own lie elsewhere. */
  private static String files(HttpTlsSettings tls) {
    return !tls.isOn()
        ? ""
        : tls.clientAuthorities() == null
            ? " (ca.pem: the authority that signed the server's certificate)"
            : " (ca.pem: the authority that signed the server's certificate; client.pem and"
                + " client-key.pem: a certificate that this server accepts, and its key)";
  }

  private static String options(HttpTlsSettings tls) {
    return !tls.isOn()
        ? ""
        : tls.clientAuthorities() == null
            ? " --cacert ca.pem"
            : " --cacert ca.pem --cert client.pem --key client-key.pem";
  }
}
