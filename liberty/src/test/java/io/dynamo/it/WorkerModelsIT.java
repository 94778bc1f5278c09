package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One server with two models: each is asked by its name, sleeps, and takes adapters alone. */
@Sampled
class WorkerModelsIT {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final Duration LIMIT = Duration.ofSeconds(30);

  @TempDir static Path folder;
  private static ServerProcess server;
  private static int statusPort;

  @BeforeAll
  static void start() throws IOException {
    statusPort = ServerProcess.freePort();
    server =
        ServerProcess.Plan.named("models")
            .with("DYN_SYSTEM_PORT", Integer.toString(statusPort))
            .with("DYN_LORA_ENABLED", "true")
            .with("DYNAMO_WORKER_MODELS", "fast,small")
            .with("DYNAMO_WORKER_RANKS", "2")
            .with("DYNAMO_WORKER_MODELS_FAST_ENGINE", "mock")
            .with("DYNAMO_WORKER_MODELS_SMALL_ENGINE", "llama")
            .with("DYNAMO_WORKER_MODELS_SMALL_RANKS", "1")
            .start();
    server.awaitReady();
    Files.writeString(folder.resolve("adapter_config.json"), "{\"r\":4}");
    Files.write(folder.resolve("adapter_model.safetensors"), new byte[8]);
  }

  @AfterAll
  static void stop() {
    if (server != null) {
      server.close();
    }
  }

  private static JsonNode status(String method, String path, String json)
      throws IOException, InterruptedException {
    var request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + statusPort + path))
            .timeout(LIMIT)
            .header("Content-Type", "application/json")
            .method(method, HttpRequest.BodyPublishers.ofString(json))
            .build();
    return JSON.readTree(HTTP.send(request, HttpResponse.BodyHandlers.ofString()).body());
  }

  private static HttpResponse<String> ask(String model) throws IOException, InterruptedException {
    return server.post(
        "/v1/chat/completions",
        """
        {"model":"%s","max_tokens":24,"messages":[{"role":"user","content":"What is the capital of France?"}]}\
        """
            .formatted(model));
  }

  private static String text(String model) throws IOException, InterruptedException {
    var answer = ask(model);
    assertThat(answer.statusCode()).as("%s: %s", model, answer.body()).isEqualTo(200);
    var body = JSON.readTree(answer.body());
    assertThat(body.path("model").asText()).isEqualTo(model);
    return body.path("choices").path(0).path("message").path("content").asText();
  }

  private static List<String> models() throws IOException, InterruptedException {
    var names = new ArrayList<String>();
    JSON.readTree(server.get("/v1/models").body())
        .path("data")
        .forEach(model -> names.add(model.path("id").asText()));
    return names;
  }

  @Test
  void bothModelsAreListedAndEachAnswersForItself() throws Exception {
    Polling.untilAsserted(LIMIT, () -> assertThat(models()).contains("fast", "small"));
    assertThat(text("fast")).isEqualTo(text("fast")).isNotEqualTo(text("small"));
    assertThat(text("small")).contains("Paris");
    var which = status("GET", "/engine/control/is_sleeping", "");
    assertThat(which.path("message").asText()).contains("[fast, small]");
    var status = JSON.readTree(server.get("/worker/status").body());
    assertThat(status.path("models")).hasSize(2);
    assertThat(status.path("models").path(0).path("ranks")).hasSize(2);
    assertThat(status.path("models").path(1).path("ranks")).hasSize(1);
  }

  @Test
  void oneSleepsWithoutItsWeightsWhileTheOtherAnswersAndWakesTheSame() throws Exception {
    Polling.untilAsserted(LIMIT, () -> assertThat(models()).contains("fast", "small"));
    var before = text("small");
    var slept = status("POST", "/engine/control/sleep", "{\"model\":\"small\",\"level\":2}");
    assertThat(slept.path("message").asText()).isEqualTo("Engine slept (level=2)");
    Polling.untilAsserted(LIMIT, () -> assertThat(models()).doesNotContain("small"));
    assertThat(ask("small").statusCode()).isEqualTo(503);
    assertThat(text("fast")).isNotEmpty();
    var ready = server.get("/health/ready");
    assertThat(ready.body()).contains("\"small\":\"asleep\"");
    assertThat(ready.statusCode()).as("the other serves").isEqualTo(200);
    assertThat(status("GET", "/health", "").path("status").asText()).isEqualTo("ready");

    var woke = status("POST", "/engine/control/wake_up", "{\"model\":\"small\"}");
    assertThat(woke.path("message").asText()).isEqualTo("Engine woke");
    Polling.untilAsserted(LIMIT, () -> assertThat(models()).contains("small"));
    assertThat(text("small")).isEqualTo(before);
    Polling.untilAsserted(
        LIMIT, () -> assertThat(server.get("/health/ready").statusCode()).isEqualTo(200));
  }

  @Test
  void anAdapterIsAModelAsLongAsItIsLoaded() throws Exception {
    var source = "\"lora_name\":\"fast/ad\",\"source\":{\"uri\":\"" + folder.toUri() + "\"}";
    var loaded = status("POST", "/v1/loras", "{\"model\":\"fast\"," + source + "}");
    assertThat(loaded.path("status").asText()).as("%s", loaded).isEqualTo("success");
    assertThat(status("GET", "/v1/loras", "").path("loras").has("fast/ad")).isTrue();
    Polling.untilAsserted(LIMIT, () -> assertThat(models()).contains("fast/ad"));
    assertThat(text("fast/ad")).isNotEqualTo(text("fast"));

    assertThat(status("DELETE", "/v1/loras/fast/ad", "").path("status").asText())
        .isEqualTo("success");
    Polling.untilAsserted(LIMIT, () -> assertThat(models()).doesNotContain("fast/ad"));
    assertThat(ask("fast/ad").statusCode()).isIn(404, 503);
  }
}
