package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/**
 * Our frontend drives two of Dynamo's own vLLM workers, from the Python environment that {@code
 * -Ddynamo.it.vllm.peer} names. The last tests kill one and terminate the other.
 */
@ManyServers
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class DynamoVllmIT {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration START = Duration.ofMinutes(8);
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final int STREAMS = 48; // more than run at once: the last ones begin late
  private static final String RUNNING = "vllm:num_requests_running";
  private static final String HITS = "vllm:prefix_cache_hits_total";

  @TempDir static Path store;
  private static ServerProcess frontend;
  private static List<PeerProcess> workers;

  @BeforeAll
  static void serve() throws IOException {
    assumeFalse(
        System.getProperty("dynamo.it.vllm.peer", "").isEmpty(),
        "left out: -Ddynamo.it.vllm.peer names no Python environment with ai-dynamo and vLLM; see"
            + " .ci/engines");
    workers =
        List.of(PeerProcess.vllm("dynamo-vllm-0", store), PeerProcess.vllm("dynamo-vllm-1", store));
    frontend =
        ServerProcess.Plan.named("dynamo-vllm-frontend")
            .with("DYN_DISCOVERY_BACKEND", "file")
            .with("DYN_FILE_KV", store.toString())
            .jvm("-Ddynamo.role=frontend")
            .start();
    Polling.until(
        "both workers serve",
        START,
        Duration.ofSeconds(1),
        () -> {
          workers.forEach(PeerProcess::requireAlive);
          return Discovered.workers(store) == 2;
        });
    frontend.awaitReady();
    ServerFacts.awaitMetric(frontend, "dynamo_component_router_worker_registered", "", 2);
  }

  @AfterAll
  static void stop() {
    if (frontend != null) {
      frontend.close();
    }
    if (workers != null) {
      workers.forEach(PeerProcess::close);
    }
  }

  @Test
  @Order(1)
  void goldenConversationsAreAnsweredAsByPyTorch() throws Exception {
    GoldenChats.compareAll(frontend::post);
  }

  @Test
  @Order(1)
  void toolCallsAndLogProbabilitiesAreInTheAnswer() throws Exception {
    var asked =
        """
        {"model":"tiny","temperature":0,"max_tokens":60,"logprobs":true,"top_logprobs":2,
         "messages":[{"role":"user","content":"What is the weather in Paris?"}]%s}\
        """;
    var tools =
        """
        ,"tools":[{"type":"function","function":{"name":"get_weather","description":"Get the weather",\
        "parameters":{"type":"object","properties":{"location":{"type":"string",\
        "description":"City name"}},"required":["location"]}}}]\
        """;
    var called = frontend.post("/v1/chat/completions", asked.formatted(tools));
    assertThat(called.statusCode()).as(called.body()).isEqualTo(200);
    var choice = JSON.readTree(called.body()).at("/choices/0");
    assertThat(choice.at("/message/tool_calls/0/function/name").asText()).isEqualTo("get_weather");
    assertThat(choice.at("/message/tool_calls/0/function/arguments").asText()).contains("Paris");
    assertThat(choice.at("/finish_reason").asText()).isEqualTo("tool_calls");
    var plain = frontend.post("/v1/chat/completions", asked.formatted(""));
    var first = JSON.readTree(plain.body()).at("/choices/0/logprobs/content/0");
    assertThat(first.at("/logprob").asDouble(1)).as(plain.body()).isLessThanOrEqualTo(0);
    assertThat(first.at("/top_logprobs")).hasSize(2);
  }

  @Test
  @Order(2)
  void repeatedPromptsGoToTheWorkerThatHasThemInItsCache() throws Exception {
    for (int prompt = 0; prompt < 4; prompt++) {
      var words = "prompt " + prompt + " " + "tell me about ownership and borrowing ".repeat(20);
      var body = ChatClient.body(Cluster.MODEL, words, 2, false);
      var first = RoutedChat.ask(frontend.uri("/"), body);
      Polling.until(
          "the router knows the blocks of prompt " + prompt,
          LIMIT,
          () ->
              RoutedChat.probe(frontend.uri("/"), body).overlaps().values().stream()
                  .anyMatch(blocks -> blocks > 0));
      var before = List.of(workers.get(0).metric(HITS), workers.get(1).metric(HITS));
      for (int again = 0; again < 3; again++) {
        RoutedChat.ask(frontend.uri("/"), body);
      }
      long one = workers.get(0).metric(HITS) - before.get(0);
      long other = workers.get(1).metric(HITS) - before.get(1);
      assertThat(Math.max(one, other))
          .as("tokens that one engine had")
          .isEqualTo(3L * ((first.promptTokens() - 1) / 32) * 32);
      assertThat(Math.min(one, other)).as("tokens that the other had").isZero();
    }
  }

  @Test
  @Order(3)
  void aClientThatLeavesFreesTheEngine() throws Exception {
    var body =
        ChatClient.body(Cluster.MODEL, "Never mind", 3900, true)
            .replaceFirst("\\{", "{\"ignore_eos\":true,");
    try (var client = frontend.chat(body)) {
      assertThat(client.status()).isEqualTo(200);
      var event = client.next();
      while (event != null && event.text().isEmpty()) {
        event = client.next();
      }
      assertThat(event).isNotNull();
      client.reset();
    }
    Polling.until(
        "nothing is computed",
        LIMIT,
        () -> workers.get(0).metric(RUNNING) + workers.get(1).metric(RUNNING) == 0);
  }

  @Test
  @Order(4)
  void textsGoOnUnchangedWhenAWorkerIsKilled() throws Exception {
    long moved = migrations();
    try (var crowd = Crowd.ask(frontend.port(), 0, GoldenChats.longBodies(STREAMS))) {
      crowd.awaitFlowing();
      assertThat(workers.get(0).metric("dynamo_component_inflight_requests")).isPositive();
      workers.get(0).kill();
      GoldenChats.requireWhole(crowd);
    }
    Polling.until("streams have moved", LIMIT, () -> migrations() > moved);
    Polling.until("it has left", LIMIT, () -> Discovered.workers(store) == 1);
    GoldenChats.compareAll(frontend::post);
  }

  private static long migrations() throws IOException, InterruptedException {
    return ServerFacts.metric(frontend, "dynamo_frontend_model_migration_total", "");
  }

  @Test
  @Order(5)
  void theModelIsGoneWithItsLastWorker() {
    workers.get(1).terminate();
    Polling.until(
        "the model is gone",
        LIMIT,
        () -> !frontend.get("/v1/models").body().contains('"' + Cluster.MODEL + '"'));
  }
}
