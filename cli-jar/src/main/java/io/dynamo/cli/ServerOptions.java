package io.dynamo.cli;

import io.dynamo.net.UrlHost;
import java.net.URI;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that say which server to ask. */
final class ServerOptions {
  @Option(
      names = "--url",
      paramLabel = "URL",
      description =
          "The server to ask; as a default the one that DYN_HTTP_HOST and DYN_HTTP_PORT name, else"
              + " http://127.0.0.1:8000.")
  private @Nullable URI url;

  @Option(
      names = "--ca",
      paramLabel = "FILE",
      description = "PEM certificates that sign the server's; as a default those of the JDK.")
  private @Nullable Path authorities;

  /** Opens a client of the server. */
  ServerClient client() {
    return new ServerClient(url == null ? standard(System.getenv()) : url, authorities);
  }

  /** Returns the address in the variables that a server reads, or the address by default. */
  static URI standard(Map<String, String> environment) {
    boolean tls =
        environment.containsKey("DYN_TLS_CERT_PATH")
            || environment.containsKey("DYNAMO_HTTP_TLS_CERTIFICATE");
    var host = first(environment, "127.0.0.1", "DYNAMO_HTTP_HOST", "DYN_HTTP_HOST");
    var port = first(environment, "8000", "DYNAMO_HTTP_PORT", "DYN_HTTP_PORT");
    var reachable =
        switch (host) {
          case "0.0.0.0" -> "127.0.0.1";
          case "::" -> "::1";
          default -> host;
        };
    return URI.create((tls ? "https://" : "http://") + UrlHost.of(reachable) + ":" + port);
  }

  private static String first(
      Map<String, String> environment, String otherwise, String... variables) {
    for (var variable : variables) {
      var value = environment.get(variable);
      if (value != null && !value.isBlank()) {
        return value.strip();
      }
    }
    return otherwise;
  }
}
