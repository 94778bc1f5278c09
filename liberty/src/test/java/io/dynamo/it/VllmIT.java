package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/**
 * A frontend and two workers, each before a real vLLM with the model that ships along, whose
 * addresses {@code -Ddynamo.it.vllm} names and whose processes {@code -Ddynamo.it.vllm.pids}. The
 * last test kills one of them.
 */
@ManyServers
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class VllmIT {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String RUNNING = "vllm:num_requests_running";
  private static final String HITS = "vllm:prefix_cache_hits_total";
  private static final int STREAMS = 48; // more than run at once: the last ones begin late
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final HttpClient HTTP = HttpClient.newHttpClient();

  @TempDir static Path folder;
  private static Cluster cluster;
  private static List<URI> engines;
  private static List<Integer> statusPorts;

  @BeforeAll
  static void serve() throws IOException {
    var addresses = System.getProperty("dynamo.it.vllm", "");
    assumeFalse(
        addresses.isEmpty(), "left out: -Ddynamo.it.vllm names no vLLM servers; see .ci/engines");
    engines = List.of(addresses.split(",", 2)).stream().map(URI::create).toList();
    assertThat(engines).hasSize(2);
    statusPorts = List.of(ServerProcess.freePort(), ServerProcess.freePort());
    cluster = Cluster.Plan.of("vllm", 2).worker(VllmIT::worker).start();
  }

  private static Map<String, String> worker(int index) {
    return Map.of(
        "DYNAMO_WORKER_ENGINE",
        "vllm",
        "DYNAMO_WORKER_RANKS",
        "1",
        "DYNAMO_WORKER_REMOTE_URL",
        engines.get(index).toString(),
        "DYNAMO_WORKER_MODEL_PATH",
        PeerProcess.model().toString(),
        "DYN_LORA_ENABLED",
        "true",
        "DYN_SYSTEM_PORT",
        statusPorts.get(index).toString());
  }

  @AfterAll
  static void stop() {
    if (cluster != null) {
      cluster.close();
    }
  }

  @Test
  @Order(1)
  void goldenConversationsAreAnsweredAsByPyTorch() throws Exception {
    GoldenChats.compareAll(cluster.frontend()::post);
  }

  @Test
  @Order(1)
  void theFrontendRendersAsTheEnginesDo() {
    assertThat(cluster.frontend().messages())
        .contains("model tiny is served by")
        .doesNotContain("its engine");
    for (int index = 0; index < 2; index++) {
      assertThat(cluster.worker(index).messages()).doesNotContain("are not compared");
    }
  }

  @Test
  @Order(2)
  void repeatedPromptsGoToTheEngineThatHasThemInItsCache() throws Exception {
    for (int prompt = 0; prompt < 4; prompt++) {
      var words = "prompt " + prompt + " " + "tell me about ownership and borrowing ".repeat(20);
      var body = ChatClient.body(Cluster.MODEL, words, 2, false);
      long tokens = ask(body).at("/usage/prompt_tokens").asLong();
      Polling.until(
          "the router knows the blocks of prompt " + prompt,
          LIMIT,
          () ->
              RoutedChat.probe(cluster.frontend().uri("/"), body).overlaps().values().stream()
                  .anyMatch(blocks -> blocks > 0));
      var before = List.of(engineMetric(0, HITS), engineMetric(1, HITS));
      for (int again = 0; again < 3; again++) {
        ask(body);
      }
      long first = engineMetric(0, HITS) - before.get(0);
      long second = engineMetric(1, HITS) - before.get(1);
      assertThat(Math.max(first, second))
          .as("tokens that one engine had")
          .isEqualTo(3 * ((tokens - 1) / 32) * 32);
      assertThat(Math.min(first, second)).as("tokens that the other had").isZero();
    }
  }

  private static JsonNode ask(String body) throws Exception {
    var answer = cluster.frontend().post("/v1/chat/completions", body);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return JSON.readTree(answer.body());
  }

  /** Returns a count of an engine's own. */
  private static long engineMetric(int index, String name)
      throws IOException, InterruptedException {
    var count =
        Pattern.compile("(?m)^" + name + "\\{[^}]*} ([0-9.e+]+)$")
            .matcher(get(engines.get(index).resolve("/metrics")));
    assertThat(count.find()).as(name).isTrue();
    return Math.round(Double.parseDouble(count.group(1)));
  }

  private static String get(URI uri) throws IOException, InterruptedException {
    var request = HttpRequest.newBuilder(uri).timeout(LIMIT).build();
    return HTTP.send(request, HttpResponse.BodyHandlers.ofString()).body();
  }

  @Test
  @Order(2)
  void aClientThatLeavesFreesTheEngine() throws Exception {
    var body =
        ChatClient.body(Cluster.MODEL, "Never mind", 3900, true)
            .replaceFirst("\\{", "{\"ignore_eos\":true,");
    try (var client = cluster.frontend().chat(body)) {
      assertThat(client.status()).isEqualTo(200);
      var event = client.next();
      while (event != null && event.text().isEmpty()) {
        event = client.next();
      }
      assertThat(event).isNotNull();
      assertThat(engineMetric(0, RUNNING) + engineMetric(1, RUNNING)).isEqualTo(1);
      client.reset();
    }
    Polling.until(
        "nothing is computed",
        LIMIT,
        () -> engineMetric(0, RUNNING) + engineMetric(1, RUNNING) == 0);
  }

  @Test
  @Order(3)
  void anAdapterIsAModelAsLongAsItIsLoaded() throws Exception {
    var loading = adapter("support");
    for (int index = 0; index < 2; index++) {
      assertThat(status(index, "POST", "/v1/loras", loading).path("status").asText())
          .isEqualTo("success");
      assertThat(get(engines.get(index).resolve("/v1/models"))).contains("\"support\"");
    }
    Polling.until("it is listed", LIMIT, () -> lists("support"));
    var body = GoldenChats.longBodies(1).getFirst().replace("\"stream\":true", "\"stream\":false");
    var answer = ask(body.replace("\"tiny\"", "\"support\""));
    assertThat(answer.at("/choices/0/message/content").asText())
        .as("an adapter that changes nothing")
        .isEqualTo(GoldenChats.longAnswer());
    for (int index = 0; index < 2; index++) {
      assertThat(status(index, "DELETE", "/v1/loras/support", "").path("status").asText())
          .isEqualTo("success");
      assertThat(get(engines.get(index).resolve("/v1/models"))).doesNotContain("\"support\"");
    }
    Polling.until("it is gone", LIMIT, () -> !lists("support"));
  }

  /** Writes an adapter that changes nothing, and returns what loads it. */
  private static String adapter(String name) throws IOException {
    var adapter = folder.resolve(name);
    PlainAdapter.write(adapter);
    return "{\"lora_name\":\"%s\",\"source\":{\"uri\":\"%s\"}}".formatted(name, adapter.toUri());
  }

  private static boolean lists(String model) throws IOException, InterruptedException {
    return cluster.frontend().get("/v1/models").body().contains('"' + model + '"');
  }

  private static JsonNode status(int index, String method, String path, String body)
      throws IOException, InterruptedException {
    var uri = URI.create("http://127.0.0.1:" + statusPorts.get(index) + path);
    var request =
        HttpRequest.newBuilder(uri)
            .timeout(LIMIT)
            .header("Content-Type", "application/json")
            .method(method, HttpRequest.BodyPublishers.ofString(body))
            .build();
    return JSON.readTree(HTTP.send(request, HttpResponse.BodyHandlers.ofString()).body());
  }

  @Test
  @Order(4)
  void aWorkerThatSleepsLeavesTheOtherAndAnswersAgainWhenItWakes() throws Exception {
    var slept = status(0, "POST", "/engine/control/sleep", "{\"level\":1}");
    assertThat(slept.path("status").asText()).as("%s", slept).isEqualTo("ok");
    Polling.until("one is left", LIMIT, () -> cluster.registered() == 1);
    assertThat(get(engines.get(0).resolve("/is_sleeping"))).contains("true");
    assertThat(get(engines.get(1).resolve("/is_sleeping"))).contains("false");
    GoldenChats.compareAll(cluster.frontend()::post);
    var woke = status(0, "POST", "/engine/control/wake_up", "{}");
    assertThat(woke.path("status").asText()).as("%s", woke).isEqualTo("ok");
    assertThat(get(engines.get(0).resolve("/is_sleeping"))).contains("false");
    cluster.awaitSeen(cluster.frontend());
    GoldenChats.compareAll(cluster.frontend()::post);
  }

  @Test
  @Order(5)
  void dynamosFrontendRoutesToTheEnginesByTheirEvents() throws Exception {
    try (var frontend =
        PeerProcess.frontend("vllm-peer-frontend", cluster.store(), "--router-mode", "kv")) {
      Polling.until("the model is listed", LIMIT, () -> frontend.lists(Cluster.MODEL));
      GoldenChats.compareAll(frontend::post);
      var subject = "Peer" + System.nanoTime(); // the engines may have seen another run
      var cold = LongPrompts.askAll(frontend.port(), Cluster.MODEL, subject);
      assertThat(cold).as("cached tokens of new prompts").containsOnly(0);
      Polling.until(
          "their router has taken the events",
          LIMIT,
          () ->
              frontend.metric(
                      "dynamo_component_kv_cache_events_applied",
                      "event_type=\"stored\"",
                      "status=\"ok\"")
                  >= LongPrompts.COUNT);
      var warm = LongPrompts.askAll(frontend.port(), Cluster.MODEL, subject);
      assertThat(warm).as("cached tokens of repeated prompts").allMatch(tokens -> tokens >= 64);
    }
  }

  @Test
  @Order(6)
  void textsGoOnUnchangedWhenAWorkerIsKilled() throws Exception {
    status(0, "POST", "/v1/loras", adapter("heirloom"));
    Polling.until("it is listed", LIMIT, () -> lists("heirloom"));
    long moved = migrations();
    try (var crowd = Crowd.ask(cluster.frontend().port(), 0, GoldenChats.longBodies(STREAMS))) {
      crowd.awaitFlowing();
      assertThat(ServerFacts.worker(cluster.worker(0)).running()).isPositive();
      cluster.worker(0).kill();
      GoldenChats.requireWhole(crowd);
    }
    Polling.until("its adapter has left with it", LIMIT, () -> !lists("heirloom"));
    Polling.until("streams have moved", LIMIT, () -> migrations() > moved);
    Polling.until("its engine has given them up", LIMIT, () -> engineMetric(0, RUNNING) == 0);
    cluster.replaceWorker(0);
    Polling.until(
        "the new worker serves the adapter that its engine has", LIMIT, () -> lists("heirloom"));
    assertThat(status(0, "DELETE", "/v1/loras/heirloom", "").path("status").asText())
        .isEqualTo("success");
  }

  @Test
  @Order(7)
  void textsGoOnUnchangedWhenAnEngineIsKilled() throws Exception {
    long moved = migrations();
    var pid = Long.parseLong(System.getProperty("dynamo.it.vllm.pids", "").split(",", 2)[1]);
    try (var crowd = Crowd.ask(cluster.frontend().port(), 0, GoldenChats.longBodies(STREAMS))) {
      crowd.awaitFlowing();
      assertThat(ServerFacts.worker(cluster.worker(1)).running()).isPositive();
      kill(ProcessHandle.of(pid).orElseThrow());
      GoldenChats.requireWhole(crowd);
    }
    Polling.until("streams have moved", LIMIT, () -> migrations() > moved);
    Polling.until("its worker has left", LIMIT, () -> cluster.registered() == 1);
  }

  private static long migrations() throws IOException, InterruptedException {
    return ServerFacts.metric(cluster.frontend(), "dynamo_frontend_model_migration_total", "");
  }

  private static void kill(ProcessHandle server) {
    server.descendants().forEach(ProcessHandle::destroyForcibly);
    server.destroyForcibly();
  }
}
