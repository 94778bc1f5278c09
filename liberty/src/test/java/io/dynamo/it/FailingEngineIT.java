package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * One server whose engine fails by a switch: whoever asks gets a typed error in bounded time, the
 * instance leaves discovery, and once the engine works a probe brings it back.
 */
class FailingEngineIT {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final Duration LIMIT = Duration.ofSeconds(60);

  @TempDir static Path folder;
  private static Path fault;
  private static ServerProcess server;

  @BeforeAll
  static void start() {
    fault = folder.resolve("fault");
    server =
        ServerProcess.Plan.named("failing")
            .with("DYN_DISCOVERY_BACKEND", "file")
            .with("DYN_FILE_KV", folder.toString())
            .with("DYN_HEALTH_CHECK_ENABLED", "true")
            .with("DYN_CANARY_WAIT_TIME", "2")
            .with("DYN_HEALTH_CHECK_REQUEST_TIMEOUT", "2")
            .with("DYNAMO_WORKER_STALL_TIMEOUT", "4s")
            .with("DYNAMO_WORKER_TOKEN_INTERVAL", "20ms")
            .with("DYNAMO_WORKER_MOCK_FAULT_FILE", fault.toString())
            .start();
    server.awaitReady();
  }

  @AfterAll
  static void stop() {
    if (server != null) {
      server.close();
    }
  }

  @AfterEach
  void mend() throws IOException {
    Files.deleteIfExists(fault);
    awaitFound(true);
    Polling.untilAsserted(LIMIT, () -> assertThat(ask().statusCode()).isEqualTo(200));
  }

  private static HttpResponse<String> ask() throws IOException, InterruptedException {
    var request =
        HttpRequest.newBuilder(server.uri("/v1/chat/completions"))
            .timeout(LIMIT)
            .header("Content-Type", "application/json")
            .POST(
                HttpRequest.BodyPublishers.ofString(
                    ChatClient.body(Cluster.MODEL, "What is the capital of France?", 8, false)))
            .build();
    return HTTP.send(request, HttpResponse.BodyHandlers.ofString());
  }

  private static void awaitFound(boolean found) {
    Discovered.await(folder, found ? 1 : 0, LIMIT);
  }

  private static void assertError(String body) throws IOException {
    var error = JSON.readTree(body).path("error");
    assertThat(error.path("message").asText()).as(body).isNotEmpty();
    assertThat(error.path("type").asText()).as(body).isNotEmpty();
    assertThat(body).as("what the engine said is for the log").doesNotContain("injected");
  }

  @ParameterizedTest
  @ValueSource(strings = {"throws", "breaks", "poisons", "hangs"})
  void aRequestEndsInATypedErrorAndTheWorkerIsOutUntilItIsWell(String how) throws Exception {
    Files.writeString(fault, how);
    var answer = ask();
    assertThat(answer.statusCode()).as(answer.body()).isBetween(500, 599);
    assertError(answer.body());
    awaitFound(false);
    Polling.untilAsserted(
        LIMIT, () -> assertThat(server.get("/health/ready").statusCode()).isEqualTo(503));
  }

  @Test
  void aStreamThatStandsStillEndsInATypedError() throws Exception {
    try (var client =
        server.chat(ChatClient.body(Cluster.MODEL, "What is the capital of France?", 1000, true))) {
      assertThat(client.status()).isEqualTo(200);
      var first = client.next();
      while (first != null && first.text().isEmpty()) {
        first = client.next();
      }
      Files.writeString(fault, "hangs");
      String last = null;
      for (var event = client.next(); event != null && !event.isDone(); event = client.next()) {
        if (!event.isComment()) {
          last = event.data();
        }
      }
      assertThat(last).isNotNull();
      assertError(String.valueOf(last));
    }
    awaitFound(false);
  }
}
