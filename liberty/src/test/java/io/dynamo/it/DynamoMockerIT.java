package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Our frontend drives Dynamo's own mocker: file discovery, TCP request plane, ZMQ events. */
@ManyServers
class DynamoMockerIT {
  private static final Duration LIMIT = Duration.ofSeconds(30);

  private static final String MIGRATIONS = "dynamo_frontend_model_migration_total";
  private static final String ONGOING = "migration_type=\"ongoing_request\"";
  private static final String REQUESTS = "dynamo_frontend_requests_total";
  private static final String ERROR = "status=\"error\"";

  private static final Map<String, String> PROBED =
      Map.of("DYN_HEALTH_CHECK_ENABLED", "true", "DYN_CANARY_WAIT_TIME", "1");

  @TempDir static Path store;

  @SuppressWarnings("NullAway.Init") // before all
  private static ServerProcess frontend;

  @BeforeAll
  static void start() {
    frontend = frontend("peer-mocker-frontend"); // ready once it has found a mocker
    Polling.until(
        "it answers", Duration.ofMinutes(4), () -> frontend.get("/v1/models").statusCode() == 200);
  }

  @AfterAll
  static void stop() {
    frontend.close();
  }

  /** The mockers of the test before may leave a lease to run out. */
  @AfterEach
  void mockersAreForgotten() {
    awaitListed(frontend, false);
  }

  private static ServerProcess frontend(String name) {
    return ServerProcess.Plan.named(name)
        .with("DYN_DISCOVERY_BACKEND", "file")
        .with("DYN_FILE_KV", store.toString())
        .jvm("-Ddynamo.role=frontend")
        .start();
  }

  private static void awaitListed(ServerProcess frontend, boolean listed) {
    Polling.until(
        "the model is " + (listed ? "listed" : "gone"),
        LIMIT,
        () -> frontend.get("/v1/models").body().contains('"' + Cluster.MODEL + '"') == listed);
  }

  @Test
  void theMockerIsFoundAnswersIsCancelledAndVanishes() throws Exception {
    try (var mocker = PeerProcess.mocker("mocker", store, PROBED, "--speedup-ratio", "1")) {
      frontend.awaitReady();
      awaitListed(frontend, true);

      for (var stream : new boolean[] {true, false}) {
        int tokens = 30;
        var body = ChatClient.body(Cluster.MODEL, "Tell me a story", tokens, stream);
        try (var client = ChatClient.post(frontend.port(), body)) {
          if (stream) {
            assertThat(client.text()).isNotBlank();
          } else {
            var answer = client.json();
            assertThat(answer.at("/choices/0/message/content").textValue()).isNotBlank();
            assertThat(answer.at("/choices/0/finish_reason").textValue()).isEqualTo("length");
            assertThat(answer.at("/usage/completion_tokens").intValue()).isEqualTo(tokens);
          }
        }
      }
      aClientThatHangsUpIsACancelAtTheMocker(mocker);
      if (PeerProcess.isAtLeast(5)) { // before, a mocker does not become ready by its canary
        Polling.until("its canary sings", LIMIT, () -> mocker.get("/health").statusCode() == 200);
      }

      mocker.terminate();
      awaitListed(frontend, false);
    }
  }

  private static void aClientThatHangsUpIsACancelAtTheMocker(PeerProcess mocker) throws Exception {
    var cancellations = "dynamo_component_cancellation_total";
    long before = mocker.metric(cancellations);
    var body = ChatClient.body(Cluster.MODEL, "Never mind", 3000, true);
    try (var client = ChatClient.post(frontend.port(), body)) {
      for (var event = client.next(); event != null; event = client.next()) {
        if (!event.text().isEmpty()) {
          break;
        }
      }
      assertThat(mocker.metric("dynamo_component_inflight_requests")).isEqualTo(1);
      client.hangUp();
    }
    Polling.until(
        "the mocker has given it up",
        LIMIT,
        () ->
            mocker.metric(cancellations) == before + 1
                && mocker.metric("dynamo_component_inflight_requests") == 0);
  }

  @Test
  void ourRouterChoosesByTheMockersEvents() throws Exception {
    var block = List.of("--block-size", "16").toArray(String[]::new);
    long never = recovered(frontend);
    try (var early = PeerProcess.mocker("mocker-kv-early", store, block)) {
      frontend.awaitReady();
      awaitListed(frontend, true);
      LongPrompts.askAll(frontend.port()); // the late one is not there yet: all prefixes are here
      Polling.until("it was asked for what it holds", LIMIT, () -> recovered(frontend) > never);
      long asked = recovered(frontend);
      try (var late = PeerProcess.mocker("mocker-kv-late", store, block)) {
        Polling.until("the second was asked too", LIMIT, () -> recovered(frontend) > asked);
        long before = early.metric("dynamo_component_requests_total", ServerFacts.GENERATE);
        long overlap = ServerFacts.metric(frontend, "dynamo_router_overlap_blocks_total", "");

        LongPrompts.askAll(frontend.port());

        assertThat(early.metric("dynamo_component_requests_total", ServerFacts.GENERATE) - before)
            .as("all go where their prefix is held")
            .isEqualTo(LongPrompts.COUNT);
        assertThat(late.metric("dynamo_component_requests_total", ServerFacts.GENERATE)).isZero();
        Polling.until(
            "the overlap is counted",
            LIMIT,
            () ->
                ServerFacts.metric(frontend, "dynamo_router_overlap_blocks_total", "") - overlap
                    >= 4L * LongPrompts.COUNT);
        var why =
            RoutedChat.probe(
                frontend.uri("/"),
                ChatClient.body(Cluster.MODEL, LongPrompts.prompt("Number", 1), 4, false));
        assertThat(why.decision().get("reason").asText()).isEqualTo("least_cost");
        assertThat(why.overlaps()).as("of both mockers").hasSize(2);
        assertThat(why.overlaps().getOrDefault(why.chosen(), 0)).isGreaterThanOrEqualTo(4);
        assertThat(why.overlaps().values()).as("the late one has nothing").contains(0);
      }
    }
  }

  @Test
  void aRouterThatComesLateAsksTheMockersWhatTheyHold() throws Exception {
    try (var mocker = PeerProcess.mocker("mocker-kv-held", store, "--block-size", "16")) {
      frontend.awaitReady();
      awaitListed(frontend, true);
      LongPrompts.askAll(frontend.port());
      try (var second = frontend("peer-kv-second")) { // heard none of the events
        second.awaitReady();
        awaitListed(second, true);
        Polling.until(
            "it knows the blocks of the mocker",
            LIMIT,
            () ->
                ServerFacts.metric(second, "dynamo_router_index_blocks", "")
                    >= 4L * LongPrompts.COUNT);
        Polling.until("it asked for them", LIMIT, () -> recovered(second) > 0);
        LongPrompts.askAll(second.port());
        Polling.until(
            "and finds the prompts there",
            LIMIT,
            () ->
                ServerFacts.metric(second, "dynamo_router_overlap_blocks_total", "")
                    >= 4L * LongPrompts.COUNT);
        assertThat(mocker.metric("dynamo_component_requests_total", ServerFacts.GENERATE))
            .isEqualTo(2L * LongPrompts.COUNT);
      }
    }
  }

  private static long recovered(ServerProcess frontend) throws IOException, InterruptedException {
    return ServerFacts.metric(frontend, "dynamo_router_recoveries_total", "result=\"tree_dump\"");
  }

  @Test
  void streamsOfAKilledOrTerminatedMockerGoOnElsewhere() throws Exception {
    int streams = 32;
    int tokens = 200;
    long moved = ServerFacts.metric(frontend, MIGRATIONS, ONGOING);
    long failed = ServerFacts.metric(frontend, REQUESTS, ERROR);
    try (var killed = PeerProcess.mocker("mocker-killed", store);
        var drained = PeerProcess.mocker("mocker-drained", store)) {
      frontend.awaitReady();
      awaitListed(frontend, true);
      Polling.until("both serve", LIMIT, () -> bothServe(killed, drained));
      try (var crowd = Crowd.ask(frontend, 0, streams, tokens)) {
        crowd.awaitFlowing();
        long moving = killed.metric("dynamo_component_inflight_requests");
        assertThat(moving).as("streams of the mocker to be killed").isPositive();
        killed.kill();
        assertThat(crowd.outcomes()).allSatisfy(outcome -> assertThat(outcome.error()).isNull());
        ServerFacts.awaitMetric(frontend, MIGRATIONS, ONGOING, moved + moving);
      }
      try (var third = PeerProcess.mocker("mocker-third", store)) {
        Polling.until("both serve", LIMIT, () -> bothServe(drained, third));
        try (var crowd = Crowd.ask(frontend, streams, streams, tokens)) {
          crowd.awaitFlowing();
          drained.terminate();
          try (var later = Crowd.ask(frontend, 2 * streams, streams, 20)) {
            assertThat(later.outcomes())
                .allSatisfy(outcome -> assertThat(outcome.error()).isNull());
          }
          assertThat(crowd.outcomes()).allSatisfy(outcome -> assertThat(outcome.error()).isNull());
        }
      }
      ServerFacts.awaitMetric(frontend, "dynamo_frontend_inflight_requests", "", 0);
      ServerFacts.awaitMetric(frontend, REQUESTS, ERROR, failed);
    }
  }

  @Test
  void streamsOfAFrozenMockerGoOnElsewhereWithinSeconds() throws Exception {
    int streams = 8;
    int tokens = 200;
    long moved = ServerFacts.metric(frontend, MIGRATIONS, ONGOING);
    long failed = ServerFacts.metric(frontend, REQUESTS, ERROR);
    try (var frozen = PeerProcess.mocker("mocker-frozen", store);
        var other = PeerProcess.mocker("mocker-other", store)) {
      frontend.awaitReady();
      awaitListed(frontend, true);
      Polling.until("both serve", LIMIT, () -> bothServe(frozen, other));
      try (var crowd = Crowd.ask(frontend, 0, streams, tokens)) {
        crowd.awaitFlowing();
        long silent = frozen.metric("dynamo_component_inflight_requests");
        assertThat(silent).as("streams of the mocker").isPositive();
        frozen.pause();
        Polling.until(
            "the silent streams have moved",
            Duration.ofSeconds(15),
            () -> ServerFacts.metric(frontend, MIGRATIONS, ONGOING) == moved + silent);
        assertThat(crowd.outcomes()).allSatisfy(outcome -> assertThat(outcome.error()).isNull());
      }
      frozen.kill();
      ServerFacts.awaitMetric(frontend, "dynamo_frontend_inflight_requests", "", 0);
      ServerFacts.awaitMetric(frontend, REQUESTS, ERROR, failed);
    }
  }

  private static boolean bothServe(PeerProcess one, PeerProcess other) throws Exception {
    try (var crowd = Crowd.ask(frontend, 1000, 8, 2)) {
      crowd.outcomes();
    }
    var requests = "dynamo_component_requests_total";
    return one.metric(requests, ServerFacts.GENERATE) > 0
        && other.metric(requests, ServerFacts.GENERATE) > 0;
  }
}
