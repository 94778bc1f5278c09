package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Dynamo's own frontend drives our workers: file discovery, TCP request plane, ZMQ events. */
class DynamoFrontendIT {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration LIMIT = Duration.ofSeconds(30);

  @TempDir Path store;
  private OracleText oracle;

  @BeforeEach
  void readTheModel() throws Exception {
    oracle = OracleText.ofShippedModel();
  }

  private ServerProcess worker(String name, Map<String, String> environment) {
    var plan =
        ServerProcess.Plan.named(name)
            .with("DYN_DISCOVERY_BACKEND", "file")
            .with("DYN_FILE_KV", store.toString())
            // the same for all: Dynamo takes workers for one fleet only when their paths agree
            .with("DYNAMO_WORKER_MODEL_PATH", PeerProcess.model().toString())
            .jvm("-Ddynamo.role=worker");
    for (var setting : environment.entrySet()) {
      plan = plan.with(setting.getKey(), setting.getValue());
    }
    return plan.start();
  }

  private static void awaitListed(PeerProcess frontend, boolean listed) {
    Polling.until(
        "the model is " + (listed ? "listed" : "gone"),
        LIMIT,
        () -> frontend.lists(Cluster.MODEL) == listed);
  }

  @Test
  void ourWorkerIsFoundAnswersIsCancelledAndVanishes() throws Exception {
    try (var worker =
            worker("peer-worker", Map.of("DYNAMO_WORKER_TOKEN_INTERVAL", "20ms")).awaitReady();
        var frontend = PeerProcess.frontend("peer-frontend", store)) {
      awaitListed(frontend, true);

      answersAreThoseOfTheOracle(frontend);
      completionsAreAnswered(frontend);
      badRequestsAreRefusedWithOurReason(frontend);
      aClientThatHangsUpIsACancelAtOurEngine(worker, frontend);

      worker.terminate();
      awaitListed(frontend, false);
      worker.awaitExit();
    }
  }

  private void answersAreThoseOfTheOracle(PeerProcess frontend) throws Exception {
    var expected = oracle.answer(1, 40);
    var unary = chat(frontend, OracleText.prompt(1), 40);
    assertThat(unary.at("/choices/0/message/content").textValue()).isEqualTo(expected);
    assertThat(unary.at("/choices/0/finish_reason").textValue()).isEqualTo("length");
    assertThat(unary.at("/usage/prompt_tokens").intValue()).isEqualTo(oracle.promptIds(1).size());
    assertThat(unary.at("/usage/completion_tokens").intValue()).isEqualTo(40);
    try (var streamed = Crowd.ask(frontend.port(), 1, 16, 40)) {
      streamed.endsAs(oracle, 40);
    }
  }

  private static JsonNode chat(PeerProcess frontend, String prompt, int tokens)
      throws IOException, InterruptedException {
    var answer =
        frontend.post(
            "/v1/chat/completions", ChatClient.body(Cluster.MODEL, prompt, tokens, false));
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return JSON.readTree(answer.body());
  }

  private static void completionsAreAnswered(PeerProcess frontend) throws Exception {
    var body =
        """
        {"model":"tiny","prompt":"one two three","max_tokens":8,"temperature":0,"stream":%s}\
        """;
    var whole = frontend.post("/v1/completions", body.formatted(false));
    assertThat(whole.statusCode()).as(whole.body()).isEqualTo(200);
    var text = JSON.readTree(whole.body()).at("/choices/0/text").textValue();
    assertThat(text).isNotBlank();

    var streamed = new StringBuilder();
    frontend
        .post("/v1/completions", body.formatted(true))
        .body()
        .lines()
        .filter(line -> line.startsWith("data: {"))
        .forEach(line -> streamed.append(text(line.substring(6))));
    assertThat(streamed.toString()).isEqualTo(text);
  }

  private static String text(String chunk) {
    try {
      return JSON.readTree(chunk).at("/choices/0/text").asText("");
    } catch (IOException broken) {
      throw new AssertionError(chunk, broken);
    }
  }

  private static void badRequestsAreRefusedWithOurReason(PeerProcess frontend) throws Exception {
    var answer =
        frontend.post(
            "/v1/chat/completions", ChatClient.body(Cluster.MODEL, "Too much", 99_999, false));
    assertThat(answer.statusCode()).isEqualTo(400);
    assertThat(answer.body()).contains("exceed the context of 4096 tokens");
  }

  private static void aClientThatHangsUpIsACancelAtOurEngine(
      ServerProcess worker, PeerProcess frontend) throws Exception {
    long before = ServerFacts.worker(worker).cancelled();
    var body = ChatClient.body(Cluster.MODEL, "Never mind", 2000, true);
    try (var client = ChatClient.post(frontend.port(), body)) {
      for (var event = client.next(); event != null; event = client.next()) {
        if (!event.text().isEmpty()) {
          break;
        }
      }
      client.hangUp();
    }
    Polling.until(
        "the engine has given it up",
        LIMIT,
        () -> {
          var status = ServerFacts.worker(worker);
          return status.cancelled() == before + 1 && status.running() == 0;
        });
    ServerFacts.awaitMetric(worker, "dynamo_component_inflight_requests", "", 0);
  }

  @ParameterizedTest
  @ValueSource(strings = {"mock", "llama"})
  void theirKvRouterChoosesByOurEvents(String engine) throws Exception {
    var settings = Map.of("DYNAMO_WORKER_ENGINE", engine);
    try (var one = worker("peer-kv-" + engine + "-1", settings).awaitReady();
        var other = worker("peer-kv-" + engine + "-2", settings).awaitReady();
        var frontend =
            PeerProcess.frontend("peer-kv-router-" + engine, store, "--router-mode", "kv")) {
      awaitListed(frontend, true);
      awaitBothUsed(frontend, one, other);

      var cold = LongPrompts.askAll(frontend.port());
      assertThat(cold).as("cached tokens of new prompts").containsOnly(0);
      Polling.until(
          "their router has taken our events",
          LIMIT,
          () ->
              frontend.metric(
                      "dynamo_component_kv_cache_events_applied",
                      "event_type=\"stored\"",
                      "status=\"ok\"")
                  >= LongPrompts.COUNT);
      var warm = LongPrompts.askAll(frontend.port());

      // eight ranks: by chance one in eight would find its prefix
      assertThat(warm).as("cached tokens of repeated prompts").allMatch(tokens -> tokens >= 64);
      assertThat(frontend.metric("dynamo_component_router_kv_selected_cached_prefix_tokens_total"))
          .isGreaterThanOrEqualTo(64L * LongPrompts.COUNT);
    }
  }

  @Test
  void streamsOfOurKilledOrDrainedWorkerLoseNothing() throws Exception {
    int streams = 48;
    int tokens = 100;
    var slow = Map.of("DYNAMO_WORKER_TOKEN_INTERVAL", "60ms");
    try (var killed = worker("peer-worker-killed", slow).awaitReady();
        var drained = worker("peer-worker-drained", slow).awaitReady();
        var frontend = PeerProcess.frontend("peer-migration", store, "--migration-limit", "3")) {
      awaitListed(frontend, true);
      awaitBothUsed(frontend, killed, drained);
      try (var crowd = Crowd.ask(frontend.port(), 0, streams, tokens)) {
        crowd.awaitFlowing();
        assertThat(ServerFacts.worker(killed).running()).isPositive();
        killed.kill();
        crowd.endsAs(oracle, tokens);
      }

      try (var third = worker("peer-worker-third", slow).awaitReady()) {
        awaitBothUsed(frontend, drained, third);
        try (var crowd = Crowd.ask(frontend.port(), streams, streams, tokens)) {
          crowd.awaitFlowing();
          assertThat(ServerFacts.worker(drained).running()).isPositive();
          assertThat(ServerFacts.drain(drained)).isEqualTo(202);
          try (var later = Crowd.ask(frontend.port(), 2 * streams, streams, 20)) {
            later.endsAs(oracle, 20);
          }
          crowd.endsAs(oracle, tokens);
        }
        assertThat(ServerFacts.worker(third).running()).isZero();
      }
    }
  }

  /** Dynamo's frontend has found both once each of them has served a request. */
  private static void awaitBothUsed(PeerProcess frontend, ServerProcess one, ServerProcess other) {
    Polling.until(
        "both workers are found",
        LIMIT,
        () -> {
          chat(frontend, "Anybody there", 1);
          return served(one) > 0 && served(other) > 0;
        });
  }

  private static long served(ServerProcess worker) throws IOException, InterruptedException {
    return ServerFacts.metric(worker, "dynamo_component_requests_total", ServerFacts.GENERATE);
  }
}
