package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Answers that every server of ours gives, in every role. */
@BuildServer
class ServerIT {
  private static final HttpClient HTTP = HttpClient.newHttpClient();

  @Test
  void serverIsAlive() throws Exception {
    assertThat(get("/health/live").body()).contains("\"status\":\"UP\"");
  }

  @Test
  void metricsNeedNoPassword() throws Exception {
    var answer = get("/metrics");

    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.body()).contains("jvm_uptime_seconds");
  }

  @Test
  void apiDescribesItself() throws Exception {
    var answer = get("/openapi");

    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.body()).contains("\"openapi\":");
    assertThat(get("/docs").statusCode()).isEqualTo(200);
  }

  private static HttpResponse<String> get(String path) throws IOException, InterruptedException {
    var request =
        HttpRequest.newBuilder(URI.create(System.getProperty("base.url") + path))
            .timeout(Duration.ofSeconds(20))
            .build();
    return HTTP.send(request, HttpResponse.BodyHandlers.ofString());
  }
}
