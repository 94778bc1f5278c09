package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;

/**
 * One router for the whole application: what the frontend's WAR places, the worker's WAR sees
 * placed, by a router of the same identity. The build runs this on class folders and on the EAR.
 */
@BuildServer
class RouterSharedIT {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final URI SERVER = URI.create(System.getProperty("base.url"));

  @Test
  void bothWarsUseTheSameRouter() throws Exception {
    var before = ready();
    assertThat(data(before, "frontend").path("router").asText())
        .matches("[0-9a-f]{16}")
        .isEqualTo(data(before, "worker").path("router").asText());

    var body = ChatClient.body(Cluster.MODEL, "Who places this?", 4, true);
    try (var client = ChatClient.post(SERVER.getPort(), body)) {
      assertThat(client.text()).isNotEmpty();
    }

    var after = ready();
    long placed = data(before, "worker").path("placed").asLong() + 1;
    assertThat(data(after, "frontend").path("placed").asLong()).isEqualTo(placed);
    assertThat(data(after, "worker").path("placed").asLong()).isEqualTo(placed);
  }

  private static JsonNode ready() throws Exception {
    try (var http = HttpClient.newHttpClient()) {
      var request =
          HttpRequest.newBuilder(SERVER.resolve("/health/ready"))
              .timeout(Duration.ofSeconds(20))
              .build();
      return JSON.readTree(http.send(request, HttpResponse.BodyHandlers.ofString()).body());
    }
  }

  private static JsonNode data(JsonNode ready, String check) {
    return StreamSupport.stream(ready.path("checks").spliterator(), false)
        .filter(one -> one.path("name").asText().equals(check))
        .findFirst()
        .orElseThrow()
        .path("data");
  }
}
