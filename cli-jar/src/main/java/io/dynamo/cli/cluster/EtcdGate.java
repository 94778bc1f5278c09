package io.dynamo.cli.cluster;

import io.dynamo.json.Json;
import io.dynamo.net.WholeExchange;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Closes a fresh etcd to everybody who does not know its password, through its JSON gateway: other
 * users of the machine can reach its port. Etcd serves when that is done. Used by one thread.
 *
 * @param user etcd demands one of the name {@code root}
 */
record EtcdGate(String url, String user, String password) implements Probe {
  private static final Duration LIMIT = Duration.ofSeconds(5);
  private static final int MOST_BYTES = 1 << 20;
  private static final HttpClient HTTP =
      HttpClient.newBuilder().connectTimeout(LIMIT).version(HttpClient.Version.HTTP_1_1).build();

  @Override
  public @Nullable String problem() throws InterruptedException {
    try {
      if (isClosed()) {
        return null;
      }
      post("/v3/auth/role/add", Map.of("name", user));
      post("/v3/auth/user/add", Map.of("name", user, "password", password));
      post("/v3/auth/user/grant", Map.of("user", user, "role", user));
      var enabled = post("/v3/auth/enable", Map.of());
      return isClosed()
          ? null
          : "etcd does not demand the password of this cluster: %d %s"
              .formatted(enabled.statusCode(), enabled.body().strip());
    } catch (IOException e) {
      return "%s does not answer".formatted(url);
    }
  }

  /** Whether the password is demanded and is ours. */
  private boolean isClosed() throws IOException, InterruptedException {
    return post("/v3/auth/authenticate", Map.of("name", user, "password", password)).statusCode()
        == 200;
  }

  private HttpResponse<String> post(String path, Map<String, String> body)
      throws IOException, InterruptedException {
    var request =
        HttpRequest.newBuilder(URI.create(url + path))
            .timeout(LIMIT)
            .POST(HttpRequest.BodyPublishers.ofByteArray(Json.write(body)));
    return WholeExchange.send(
        HTTP, request.build(), BodyHandlers.limiting(BodyHandlers.ofString(), MOST_BYTES));
  }
}
