package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Dynamo's own frontend and mocker beside ours, over combinations of discovery, request plane and
 * event plane: in one cluster our frontend drives its mocker, its frontend drives our worker.
 * {@code -Ddynamo.it.cell=etcd-nats-zmq} runs one combination.
 */
@ManyServers
@Sampled
class DynamoPlanesIT {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final String MOCKED = "mocked";
  private static final String OURS = Cluster.MODEL;
  private static final int BLOCKS = 4 * LongPrompts.COUNT; // of the long prompts, at least

  /** Prompts of which their router hears from our worker. */
  private static final List<String> HEARD = List.of("Six", "Seven", "Eight", "Nine", "Ten");

  /** Prompts of which only the first of their frontends has heard. */
  private static final List<String> HELD = List.of("One", "Two", "Three", "Four", "Five");

  @TempDir static Path folder;

  @SuppressWarnings("NullAway.Init") // before all
  private static NatsProcess nats;

  @SuppressWarnings("NullAway.Init") // before all
  private static EtcdProcess etcd;

  @SuppressWarnings("NullAway.Init") // before all
  private static OracleText oracle;

  /** One cell's store and names. */
  private record Scene(PlaneCell cell, Path store) {
    ServerProcess.Plan server(String role) {
      var plan =
          ServerProcess.Plan.named("planes-%s-%s".formatted(cell, role))
              .with("DYNAMO_WORKER_MODEL_PATH", PeerProcess.model().toString())
              .with("DYNAMO_WORKER_TOKEN_INTERVAL", "10ms")
              .with("DYN_FILE_KV", store.toString())
              .jvm("-Ddynamo.role=" + role);
      for (var variable : cell.environment(servers()).entrySet()) {
        plan = plan.with(variable.getKey(), variable.getValue());
      }
      return plan;
    }

    PeerProcess frontend(String name) throws IOException {
      return PeerProcess.frontend(
          "planes-%s-%s".formatted(cell, name),
          store,
          cell.environment(servers()),
          "--router-mode",
          "kv");
    }

    PeerProcess mocker() throws IOException {
      return PeerProcess.mocker(
          "planes-%s-mocker".formatted(cell),
          store,
          cell.environment(servers()),
          "--model-name",
          MOCKED,
          "--endpoint",
          "dyn://mocked.backend.generate",
          "--block-size",
          "16",
          "--speedup-ratio",
          "1");
    }
  }

  private static PlaneCell.Servers servers() {
    return new PlaneCell.Servers(etcd.endpoint(), nats.url());
  }

  @BeforeAll
  static void start() throws IOException {
    nats = NatsProcess.start("dynamo-planes-nats");
    etcd = EtcdProcess.start(folder);
    oracle = OracleText.ofShippedModel();
  }

  @AfterAll
  static void stop() {
    if (nats != null) {
      nats.close();
    }
    if (etcd != null) {
      etcd.close();
    }
  }

  static List<PlaneCell> cells() {
    return PlaneCell.drawn();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("cells")
  void eachFrontendDrivesTheOthersWorker(PlaneCell cell) throws Exception {
    var scene = new Scene(cell, Files.createDirectories(folder.resolve(cell.toString())));
    try (var worker = scene.server("worker").start();
        var mocker = scene.mocker();
        var first = scene.frontend("peer-frontend")) {
      Polling.until("their frontend lists their mocker", LIMIT, () -> first.lists(MOCKED));
      LongPrompts.askAll(first.port(), MOCKED, "Early");
      try (var frontend = scene.server("frontend").start()) {
        worker.awaitReady();
        ourRouterAsksTheMockerWhatItHolds(frontend.awaitReady());
        ourRouterHearsTheMocker(frontend);
        bothApisAnswer(frontend.port(), MOCKED);
        aHangUpIsACancelAtTheMocker(frontend.port(), mocker);

        Polling.until("their frontend lists our worker", LIMIT, () -> first.lists(OURS));
        theirRouterHearsOurWorker(first);
        bothApisAnswer(first.port(), OURS);
        aHangUpIsACancelAtOurEngine(first.port(), worker);
        try (var crowd = Crowd.ask(first.port(), 0, 8, 30)) {
          crowd.endsAs(oracle, 30);
        }

        for (var subject : HELD) {
          LongPrompts.askAll(first.port(), OURS, subject);
        }
        try (var late = scene.frontend("peer-frontend-late")) {
          theirRouterAsksOurWorkerWhatItHolds(late);
          streamsOfAKilledMockerEnd(frontend, mocker);
          streamsOfOurDrainedWorkerAreWhole(late, worker);
        }
      }
    }
  }

  private static boolean lists(ServerProcess frontend, String model)
      throws IOException, InterruptedException {
    return frontend.get("/v1/models").body().contains('"' + model + '"');
  }

  private static long indexed(ServerProcess frontend) throws IOException, InterruptedException {
    return ServerFacts.metric(frontend, "dynamo_router_index_blocks", "");
  }

  private static long overlap(ServerProcess frontend) throws IOException, InterruptedException {
    return ServerFacts.metric(frontend, "dynamo_router_overlap_blocks_total", "");
  }

  /** It has heard none of the events of the first prompts. */
  private static void ourRouterAsksTheMockerWhatItHolds(ServerProcess frontend) throws Exception {
    Polling.until("our frontend lists the mocker", LIMIT, () -> lists(frontend, MOCKED));
    Polling.until("our router has asked for blocks", LIMIT, () -> indexed(frontend) >= BLOCKS);
    LongPrompts.askAll(frontend.port(), MOCKED, "Early");
    Polling.until("our router finds the prefixes", LIMIT, () -> overlap(frontend) >= BLOCKS);
  }

  private static void ourRouterHearsTheMocker(ServerProcess frontend) throws Exception {
    long held = indexed(frontend);
    LongPrompts.askAll(frontend.port(), MOCKED, "Later");
    Polling.until("our router has heard", LIMIT, () -> indexed(frontend) - held >= BLOCKS);
    long found = overlap(frontend);
    LongPrompts.askAll(frontend.port(), MOCKED, "Later");
    Polling.until(
        "our router finds what it heard of", LIMIT, () -> overlap(frontend) - found >= BLOCKS);
  }

  /**
   * A prompt has more events than one, and nothing says which of them has been applied last: other
   * prompts are taken until all find their prefix. Our worker has four ranks, so that by chance one
   * in four of them does.
   */
  private static void theirRouterHearsOurWorker(PeerProcess frontend) throws Exception {
    var unasked = HEARD.iterator();
    Polling.until(
        "their router finds what it has heard of",
        LIMIT,
        () -> {
          var subject = unasked.next();
          long before = stored(frontend);
          assertThat(LongPrompts.askAll(frontend.port(), OURS, subject)).containsOnly(0);
          Polling.until(
              "their router has heard",
              LIMIT,
              () -> stored(frontend) - before >= LongPrompts.COUNT);
          return LongPrompts.askAll(frontend.port(), OURS, subject).stream()
              .allMatch(tokens -> tokens >= 64);
        });
  }

  /** The blocks of its mocker count among those that it has stored. */
  private static long stored(PeerProcess frontend) throws IOException, InterruptedException {
    return frontend.metric(
        "dynamo_component_kv_cache_events_applied", "event_type=\"stored\"", "status=\"ok\"");
  }

  private static void theirRouterAsksOurWorkerWhatItHolds(PeerProcess late) throws Exception {
    Polling.until(
        "their late frontend lists both", LIMIT, () -> late.lists(OURS) && late.lists(MOCKED));
    Polling.until("it has asked for blocks", LIMIT, () -> stored(late) > 0);
    // it asks the ranks one by one: the first prompts may come before the last answer
    var untold = HELD.iterator();
    Polling.until(
        "their router finds what it never heard of",
        LIMIT,
        () ->
            LongPrompts.askAll(late.port(), OURS, untold.next()).stream()
                .allMatch(tokens -> tokens >= 64));
  }

  /** Chat and text completions, each whole and streamed: the same text both times. */
  private static void bothApisAnswer(int port, String model) throws Exception {
    var whole = ChatClient.body(model, "Tell me a story", 12, false);
    try (var client = ChatClient.post(port, whole)) {
      var answer = client.json();
      assertThat(answer.at("/usage/completion_tokens").asInt()).as("%s", answer).isEqualTo(12);
      assertThat(answer.at("/choices/0/finish_reason").asText()).isEqualTo("length");
    }
    try (var client = ChatClient.post(port, ChatClient.body(model, "Tell me a story", 12, true))) {
      assertThat(client.text()).isNotBlank();
    }
    var completion =
        "{\"model\":\"%s\",\"prompt\":\"one two three\",\"max_tokens\":8,\"stream\":%s}";
    var answer = complete(port, completion.formatted(model, false));
    assertThat(JSON.readTree(answer.body()).at("/choices/0/text").asText()).isNotBlank();
    assertThat(complete(port, completion.formatted(model, true)).body())
        .contains("\"text_completion\"")
        .endsWith("data: [DONE]\n\n");
  }

  private static HttpResponse<String> complete(int port, String body) throws Exception {
    var request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:%d/v1/completions".formatted(port)))
            .timeout(LIMIT)
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
    var answer = HTTP.send(request, HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return answer;
  }

  private static void hangUpAfterTheFirstToken(int port, String model) throws IOException {
    var body = ChatClient.body(model, "Never mind", 2000, true);
    try (var client = ChatClient.post(port, body)) {
      for (var event = client.next(); event != null; event = client.next()) {
        if (!event.text().isEmpty()) {
          break;
        }
      }
      client.hangUp();
    }
  }

  private static void aHangUpIsACancelAtTheMocker(int port, PeerProcess mocker) throws Exception {
    long before = mocker.metric("dynamo_component_cancellation_total");
    hangUpAfterTheFirstToken(port, MOCKED);
    Polling.until(
        "the mocker has given it up",
        LIMIT,
        () ->
            mocker.metric("dynamo_component_cancellation_total") == before + 1
                && mocker.metric("dynamo_component_inflight_requests") == 0);
  }

  private static void aHangUpIsACancelAtOurEngine(int port, ServerProcess worker) throws Exception {
    long before = ServerFacts.worker(worker).cancelled();
    hangUpAfterTheFirstToken(port, OURS);
    Polling.until(
        "our engine has given it up",
        LIMIT,
        () -> {
          var status = ServerFacts.worker(worker);
          return status.cancelled() == before + 1 && status.running() == 0;
        });
  }

  /** There is no other worker of the model: each stream ends with an error, and none hangs. */
  private static void streamsOfAKilledMockerEnd(ServerProcess frontend, PeerProcess mocker)
      throws Exception {
    var bodies =
        IntStream.range(0, 8)
            .mapToObj(number -> ChatClient.body(MOCKED, OracleText.prompt(number), 2000, true))
            .toList();
    try (var crowd = Crowd.ask(frontend.port(), 0, bodies)) {
      crowd.awaitFlowing();
      mocker.kill();
      assertThat(crowd.outcomes()).allSatisfy(outcome -> assertThat(outcome.error()).isNotNull());
    }
    Polling.until(
        "the model is gone with its worker's lease", LIMIT, () -> !lists(frontend, MOCKED));
  }

  private static void streamsOfOurDrainedWorkerAreWhole(PeerProcess frontend, ServerProcess worker)
      throws Exception {
    try (var crowd = Crowd.ask(frontend.port(), 100, 8, 200)) {
      crowd.awaitFlowing();
      worker.terminate();
      crowd.endsAs(oracle, 200);
    }
    Polling.until(
        "the model is gone when its worker has drained", LIMIT, () -> !frontend.lists(OURS));
    worker.awaitExit();
  }
}
