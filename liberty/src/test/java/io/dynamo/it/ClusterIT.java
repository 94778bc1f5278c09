package io.dynamo.it;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/** Three servers under many streams, with a worker that dies. Each test can run alone. */
@ManyServers
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class ClusterIT {
  private static final String RETRIES = "ft_retry_retries_total";
  private static final String MIGRATIONS = "dynamo_frontend_model_migration_total";
  private static final String INFLIGHT = "dynamo_frontend_inflight_requests";
  private static final String NEW_REQUEST = "migration_type=\"new_request\"";
  private static final String REQUESTS = "dynamo_frontend_requests_total";

  private static final Duration FROZEN_LIMIT = Duration.ofSeconds(15);

  private static final String SUCCESS = "status=\"success\"";

  @SuppressWarnings("NullAway.Init") // before all
  private static OracleText oracle;

  private static @Nullable Cluster started;

  @BeforeAll
  static void start() throws Exception {
    oracle = OracleText.ofShippedModel();
    started =
        Cluster.Plan.of("cluster", 2)
            .worker(Map.of("DYNAMO_WORKER_TOKEN_INTERVAL", "150ms"))
            .start();
  }

  @AfterAll
  static void stop() {
    if (started != null) {
      started.close();
    }
  }

  @Test
  @Order(1)
  void oracleEncodesPromptsAsHuggingFaceDoes() {
    assertThat(oracle.promptIds(512))
        .isEqualTo(
            List.of(4088, 333, 198, 1066, 220, 455, 220, 20, 16, 17, 4089, 198, 4088, 330, 198));
  }

  @Test
  @Order(2)
  void streamsOfAKilledWorkerGoOnElsewhereTokenForToken() throws Exception {
    int streams = 512;
    int tokens = 120;
    var cluster = requireNonNull(started);
    try (var crowd = Crowd.ask(cluster.frontend(), 0, streams, tokens)) {
      crowd.awaitFlowing();
      assertThat(ServerFacts.metric(cluster.frontend(), INFLIGHT, "")).isEqualTo(streams);
      long lost = ServerFacts.worker(cluster.worker(0)).running();
      assertThat(lost).as("streams of the worker").isBetween(1L, streams - 1L);
      // servers that have just started may be too slow for some of the first requests
      long before = ServerFacts.metric(cluster.frontend(), RETRIES, "GenerationLegs.run");

      cluster.worker(0).kill();

      crowd.endsAs(oracle, tokens);
      ServerFacts.awaitMetric(cluster.frontend(), RETRIES, "GenerationLegs.run", before + lost);
      ServerFacts.awaitMetric(
          cluster.frontend(), MIGRATIONS, "migration_type=\"ongoing_request\"", lost);
      ServerFacts.awaitMetric(cluster.frontend(), MIGRATIONS, "", before + lost);
      ServerFacts.awaitMetric(cluster.frontend(), REQUESTS, SUCCESS, streams);
      ServerFacts.awaitMetric(cluster.frontend(), REQUESTS, "", streams);
      awaitIdle(cluster.frontend(), cluster.worker(1));
    }
  }

  @Test
  @Order(3)
  void withoutFaultToleranceTheStreamsOfAKilledWorkerEndInAnErrorFrame() throws Exception {
    int streams = 32;
    int tokens = 50;
    var cluster = requireNonNull(started);
    try (var frontend =
        cluster.startFrontend(
            "no-retry", "-Dio.dynamo.frontend.dispatch.GenerationLegs/run/Retry/enabled=false")) {
      if (!cluster.worker(0).isAlive()) {
        cluster.replaceWorker(0);
      }
      cluster.awaitSeen(frontend);
      killAWorkerOf(frontend, cluster, streams, tokens);
    }
  }

  private static void killAWorkerOf(
      ServerProcess frontend, Cluster cluster, int streams, int tokens) throws Exception {
    try (var crowd = Crowd.ask(frontend, 0, streams, tokens)) {
      crowd.awaitFlowing();
      long lost = ServerFacts.worker(cluster.worker(0)).running();
      assertThat(lost).as("streams of the worker").isBetween(1L, streams - 1L);

      cluster.worker(0).kill();

      int broken = 0;
      for (var outcome : crowd.outcomes()) {
        var whole = oracle.answer(outcome.number(), tokens);
        if (outcome.error() == null) {
          assertThat(outcome.text()).as("stream %d", outcome.number()).isEqualTo(whole);
        } else {
          broken++;
          assertThat(outcome.error())
              .containsPattern("\"type\":\"(internal_server_error|service_unavailable)\"")
              .containsPattern("\"code\":50[03]");
          assertThat(whole).startsWith(outcome.text());
          assertThat(outcome.text()).hasSizeLessThan(whole.length());
        }
      }
      assertThat(broken).isEqualTo(lost);
      assertThat(ServerFacts.metric(frontend, RETRIES, "GenerationLegs.run")).isZero();
      ServerFacts.awaitMetric(frontend, REQUESTS, "status=\"error\"", lost);
      assertThat(ServerFacts.metric(frontend, MIGRATIONS, "")).isZero();
      awaitIdle(frontend, cluster.worker(1));
    }
  }

  @Test
  @Order(4)
  void workerThatDiesBeforeTheFirstTokenIsReplacedUnseen() throws Exception {
    int streams = 16;
    int tokens = 40;
    var cluster = requireNonNull(started);
    cluster.replaceWorker(0, Map.of("DYNAMO_WORKER_PREFILL_PER_TOKEN", "300ms"));
    var frontend = cluster.frontend();
    long retries = ServerFacts.metric(frontend, RETRIES, "GenerationLegs.run");
    long migrations = ServerFacts.metric(frontend, MIGRATIONS, "");
    long silent = ServerFacts.metric(frontend, MIGRATIONS, NEW_REQUEST);
    long succeeded = ServerFacts.metric(frontend, REQUESTS, SUCCESS);
    try (var crowd = Crowd.ask(frontend, 0, streams, tokens)) {
      Polling.until(
          "all prompts are at an engine",
          Duration.ofSeconds(20),
          () ->
              ServerFacts.worker(cluster.worker(0)).running()
                      + ServerFacts.worker(cluster.worker(1)).running()
                  == streams);
      long lost = ServerFacts.worker(cluster.worker(0)).running();
      assertThat(lost).as("prompts of the worker").isPositive();

      cluster.worker(0).kill();

      crowd.endsAs(oracle, tokens);
      ServerFacts.awaitMetric(frontend, RETRIES, "GenerationLegs.run", retries + lost);
      ServerFacts.awaitMetric(frontend, MIGRATIONS, "", migrations + lost);
      assertThat(ServerFacts.metric(frontend, MIGRATIONS, NEW_REQUEST))
          .as("those that had said nothing yet; a pass may have ended just before the kill")
          .isGreaterThan(silent);
      ServerFacts.awaitMetric(frontend, REQUESTS, SUCCESS, succeeded + streams);
      awaitIdle(frontend, cluster.worker(1));
    }
  }

  @Test
  @Order(5)
  void streamsOfAFrozenWorkerGoOnElsewhereWithinSeconds() throws Exception {
    int streams = 8;
    int tokens = 30;
    var cluster = requireNonNull(started);
    cluster.replaceWorker(0);
    var frontend = cluster.frontend();
    var frozen = cluster.worker(0);
    long migrations = ServerFacts.metric(frontend, MIGRATIONS, "");
    long succeeded = ServerFacts.metric(frontend, REQUESTS, SUCCESS);
    try (var crowd = Crowd.ask(frontend, 0, streams, tokens)) {
      crowd.awaitFlowing();
      long silent = ServerFacts.worker(frozen).running();
      assertThat(silent).as("streams of the worker").isBetween(1L, streams - 1L);

      frozen.pause();
      try {
        Polling.until(
            "the silent streams have moved",
            FROZEN_LIMIT,
            () -> ServerFacts.metric(frontend, MIGRATIONS, "") == migrations + silent);
        crowd.endsAs(oracle, tokens);
        ServerFacts.awaitMetric(frontend, REQUESTS, SUCCESS, succeeded + streams);
        awaitIdle(frontend, cluster.worker(1));
      } finally {
        frozen.resume();
      }
      cluster.awaitSeen(frontend);
      awaitIdle(frontend, frozen);
    }
  }

  /** Nothing is left of the streams, neither at the frontend nor at the worker. */
  private static void awaitIdle(ServerProcess frontend, ServerProcess worker) {
    ServerFacts.awaitMetric(frontend, INFLIGHT, "", 0);
    ServerFacts.awaitMetric(worker, "dynamo_component_inflight_requests", "", 0);
    Polling.until(
        "the engine is idle",
        Duration.ofSeconds(10),
        () -> {
          var status = ServerFacts.worker(worker);
          return status.running() == 0 && status.waiting() == 0 && status.heldBlocks() == 0;
        });
  }
}
