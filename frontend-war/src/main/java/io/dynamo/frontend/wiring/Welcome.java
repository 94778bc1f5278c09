package io.dynamo.frontend.wiring;

import io.dynamo.config.HttpTlsSettings;
import io.dynamo.frontend.catalog.ModelCatalog;
import io.dynamo.frontend.catalog.ServedModel;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Prints an example of a first request on the console, once: when a model can serve requests, and
 * after the server's own lines. Uses standard output, which the server shows at every log level.
 */
final class Welcome {
  private static final long FIRST_LOOK_MILLIS = 1000; // the server says last that it is ready
  private static final long LOOK_MILLIS = 250;

  private final String address;
  private final HttpTlsSettings tls;
  private final @Nullable InetSocketAddress status;
  private final ModelCatalog catalog;
  private final PrintStream console;
  private final Future<?> looking;

  /**
   * @param status where the status server listens; null when there is none
   */
  Welcome(
      String address,
      HttpTlsSettings tls,
      @Nullable InetSocketAddress status,
      ModelCatalog catalog,
      ScheduledExecutorService timer,
      PrintStream console) {
    this.address = address;
    this.tls = tls;
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
      console.println(text(address, tls, status, models));
      looking.cancel(false);
    }
  }

  /**
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

        Console %1$s/console, models %1$s/v1/models, health %1$s/health, metrics %1$s/metrics, API %1$s/openapi/ui
        """
            .formatted(
                address,
                (model == null ? models.getFirst() : model).name(),
                model == null ? "" : request(address, tls, model.name(), chat != null));
    return status == null
        ? text
        : text
            + "Status server http://%s:%d: /health, /live, /metrics with Dynamo's names%n"
                .formatted(host(status), status.getPort());
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

  /** Says which files the options name; the client's own lie elsewhere. */
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

  private static String host(InetSocketAddress at) {
    var host = at.getAddress().getHostAddress();
    return host.contains(":") ? "[" + host + "]" : host;
  }

  /** Cancels the check for models. */
  void cancel() {
    looking.cancel(false);
  }
}
