package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/**
 * Dynamo's own frontend drives our workers: file discovery, TCP request plane, ZMQ events. Each
 * test can run alone; together they go on with the workers that the test before has left.
 */
@ManyServers
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class DynamoFrontendIT {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration LIMIT = Duration.ofSeconds(30);

  /** Of our workers with the engine that invents; slow enough to be met while they stream. */
  private static final Map<String, String> SLOW = Map.of("DYNAMO_WORKER_TOKEN_INTERVAL", "60ms");

  @TempDir static Path store;

  @SuppressWarnings("NullAway.Init") // before all
  private static OracleText oracle;

  /** Those that serve. */
  private static final List<ServerProcess> workers = new ArrayList<>();

  /** Where the status server of each worker is. */
  private static final Map<ServerProcess, Integer> statusPorts = new HashMap<>();

  private static int started;

  @BeforeAll
  static void readTheModel() throws Exception {
    oracle = OracleText.ofShippedModel();
  }

  @AfterAll
  static void stop() {
    workers.forEach(ServerProcess::close);
    workers.clear();
  }

  private static ServerProcess start(Map<String, String> environment) throws IOException {
    int status = ServerProcess.freePort();
    var plan =
        ServerProcess.Plan.named("peer-worker-" + ++started)
            .with("DYN_SYSTEM_PORT", Integer.toString(status))
            .with("DYN_DISCOVERY_BACKEND", "file")
            .with("DYN_FILE_KV", store.toString())
            // the same for all: Dynamo takes workers for one fleet only when their paths agree
            .with("DYNAMO_WORKER_MODEL_PATH", PeerProcess.model().toString())
            .jvm("-Ddynamo.role=worker");
    for (var setting : environment.entrySet()) {
      plan = plan.with(setting.getKey(), setting.getValue());
    }
    var worker = plan.start();
    workers.add(worker);
    statusPorts.put(worker, status);
    return worker;
  }

  /** Begins to start what is missing of {@code count} slow workers, and ends those beyond. */
  private static List<ServerProcess> workers(int count) throws IOException {
    while (workers.size() > count) {
      end(workers.getFirst());
    }
    while (workers.size() < count) {
      start(SLOW);
    }
    return List.copyOf(workers);
  }

  private static void end(ServerProcess worker) {
    worker.close();
    workers.remove(worker);
  }

  private static void awaitServing() {
    workers.forEach(ServerProcess::awaitReady);
    Discovered.await(store, workers.size(), LIMIT);
  }

  private static void awaitListed(PeerProcess frontend, boolean listed) {
    Polling.until(
        "the model is " + (listed ? "listed" : "gone"),
        LIMIT,
        () -> frontend.lists(Cluster.MODEL) == listed);
  }

  @Test
  @Order(3)
  void ourWorkerIsFoundAnswersIsCancelledAndVanishes() throws Exception {
    var worker = workers(1).getFirst();
    awaitServing();
    try (var frontend = PeerProcess.frontend("peer-frontend", store)) {
      awaitListed(frontend, true);

      answersAreThoseOfTheOracle(frontend);
      completionsAreAnswered(frontend);
      badRequestsAreRefusedWithOurReason(frontend);
      aClientThatHangsUpIsACancelAtOurEngine(worker, frontend);

      worker.terminate();
      awaitListed(frontend, false);
      worker.awaitExit();
      end(worker);
    }
  }

  private static void answersAreThoseOfTheOracle(PeerProcess frontend) throws Exception {
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
    // frontends before 1.6 send nothing for five seconds to a worker that refuses in its prologue
    chat(frontend, "Not too much", 4);
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

  @Test
  @Order(1)
  void theirKvRouterChoosesByOurEvents() throws Exception {
    var serving = workers(2);
    theirKvRouterChoosesByEventsOf(serving.getFirst(), serving.getLast());
  }

  @Test
  @Order(1)
  void theirRouterHearsWhatOurWorkersMayBeRequiredFor() throws Exception {
    var serving = workers(2);
    try (var frontend = PeerProcess.frontend("peer-taints", store, "--router-mode", "kv")) {
      awaitServing();
      awaitListed(frontend, true);
      awaitBothUsed(frontend, serving.getFirst(), serving.getLast());
      assertThat(servingTainted(frontend)).as("nobody has the taint").isEqualTo("refused");

      var homes = new HashSet<String>();
      for (var chosen : serving) {
        for (var worker : serving) {
          taint(worker, worker == chosen ? "\"it/fast\"" : "");
        }
        Polling.until(
            "one serves, and another than before",
            LIMIT,
            () -> {
              var home = servingTainted(frontend);
              return home.matches("\\d+") && homes.add(home);
            });
        assertThat(homes).contains(servingTainted(frontend), servingTainted(frontend));
      }
      assertThat(homes).hasSize(2);
      for (var worker : serving) {
        taint(worker, "");
      }
      Polling.until(
          "nobody has it any more", LIMIT, () -> servingTainted(frontend).equals("refused"));
      assertThat(frontend.lists(Cluster.MODEL)).isTrue();
    }
  }

  private static void taint(ServerProcess worker, String taints) throws Exception {
    var request =
        HttpRequest.newBuilder(
                URI.create(
                    "http://127.0.0.1:%d/engine/update/model_taints"
                        .formatted(statusPorts.get(worker))))
            .POST(HttpRequest.BodyPublishers.ofString("{\"taints\":[%s]}".formatted(taints)))
            .build();
    try (var http = HttpClient.newHttpClient()) {
      var answer = http.send(request, HttpResponse.BodyHandlers.ofString());
      assertThat(JSON.readTree(answer.body()))
          .isEqualTo(JSON.readTree("{\"status\":\"ok\",\"taints\":[%s]}".formatted(taints)));
    }
  }

  /** Returns the worker of a request that only a tainted worker may serve; or {@code refused}. */
  private static String servingTainted(PeerProcess frontend) throws Exception {
    var answer =
        frontend.post(
            "/v1/chat/completions",
            """
            {"model":"tiny","messages":[{"role":"user","content":"Quick"}],"max_tokens":1,
             "nvext":{"routing_constraints":{"required_taints":["it/fast"]},
                      "extra_fields":["worker_id"]}}
            """);
    return answer.statusCode() == 200
        ? JSON.readTree(answer.body())
            .at("/nvext/worker_id/decode_worker_id")
            .bigIntegerValue()
            .toString()
        : "refused";
  }

  @Test
  @Order(4)
  void theirKvRouterChoosesByEventsOfTheEngineThatComputes() throws Exception {
    workers(0);
    var settings = Map.of("DYNAMO_WORKER_ENGINE", "llama");
    theirKvRouterChoosesByEventsOf(start(settings), start(settings));
  }

  @Test
  @Order(5)
  void aFullWorkerRefusesAndServesTheNextRequest() throws Exception {
    workers(0);
    var worker =
        start(
            Map.of(
                "DYNAMO_WORKER_ENGINE", "echo",
                "DYNAMO_WORKER_MAX_RUNNING", "1",
                "DYNAMO_WORKER_TOKEN_INTERVAL", "100ms"));
    var words = "word ".repeat(400);
    // a frontend of 1.4 takes each error of a worker for one of its own
    var refusals = PeerProcess.isAtLeast(5) ? List.of(503, 529) : List.of(500);
    try (var frontend = PeerProcess.frontend("peer-full", store)) {
      awaitServing();
      awaitListed(frontend, true);
      for (int round = 0; round < 3; round++) {
        try (var stream =
            ChatClient.post(frontend.port(), ChatClient.body(Cluster.MODEL, words, 400, true))) {
          assertThat(stream.next()).isNotNull();
          var refused =
              frontend.post(
                  "/v1/chat/completions", ChatClient.body(Cluster.MODEL, "One more", 4, false));
          assertThat(refused.statusCode()).as(refused.body()).isIn(refusals);
          stream.hangUp();
        }
        Polling.until(
            "the worker has room", LIMIT, () -> ServerFacts.worker(worker).running() == 0);
        // at once: a worker that was set aside for its refusal would get nothing for five seconds
        chat(frontend, "Now", 4);
      }
    }
  }

  private static void theirKvRouterChoosesByEventsOf(ServerProcess one, ServerProcess other)
      throws Exception {
    try (var frontend =
        PeerProcess.frontend("peer-kv-router-" + started, store, "--router-mode", "kv")) {
      awaitServing();
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
      if (PeerProcess.isAtLeast(6)) { // earlier ones do not count it
        assertThat(
                frontend.metric("dynamo_component_router_kv_selected_cached_prefix_tokens_total"))
            .isGreaterThanOrEqualTo(64L * LongPrompts.COUNT);
      }
    }
  }

  @Test
  @Order(2)
  void streamsOfOurKilledOrDrainedWorkerLoseNothing() throws Exception {
    int streams = 48;
    int tokens = 100;
    var serving = workers(2);
    var killed = serving.getFirst();
    var drained = serving.getLast();
    try (var frontend = PeerProcess.frontend("peer-migration", store, "--migration-limit", "3")) {
      awaitServing();
      awaitListed(frontend, true);
      awaitBothUsed(frontend, killed, drained);
      ServerProcess third;
      try (var crowd = Crowd.ask(frontend.port(), 0, streams, tokens)) {
        crowd.awaitFlowing();
        assertThat(ServerFacts.worker(killed).running()).isPositive();
        killed.kill();
        end(killed);
        third = start(SLOW); // and is not there yet when the streams move
        crowd.endsAs(oracle, tokens);
      }

      awaitServing();
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
      end(drained);
    }
  }

  /** Dynamo's frontend has found both once each of them has served a request of it. */
  private static void awaitBothUsed(PeerProcess frontend, ServerProcess one, ServerProcess other)
      throws IOException, InterruptedException {
    long ones = served(one);
    long others = served(other);
    Polling.until(
        "both workers are found",
        LIMIT,
        () -> {
          chat(frontend, "Anybody there", 1);
          return served(one) > ones && served(other) > others;
        });
  }

  private static long served(ServerProcess worker) throws IOException, InterruptedException {
    return ServerFacts.metric(worker, "dynamo_component_requests_total", ServerFacts.GENERATE);
  }
}
