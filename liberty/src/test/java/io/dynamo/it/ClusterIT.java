package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Three servers under many streams, with a worker that dies. */
class ClusterIT {
  private static final String RETRIES = "ft_retry_retries_total";
  private static final String MIGRATIONS = "dynamo_frontend_model_migration_total";
  private static final String INFLIGHT = "dynamo_frontend_inflight_requests";
  private static final String REQUESTS = "dynamo_frontend_requests_total";

  private OracleText oracle;

  @BeforeEach
  void readTheModel() throws Exception {
    oracle = OracleText.ofShippedModel();
  }

  @Test
  void oracleEncodesPromptsAsHuggingFaceDoes() {
    assertThat(oracle.promptIds(512))
        .isEqualTo(
            List.of(4088, 333, 198, 1066, 220, 455, 220, 20, 16, 17, 4089, 198, 4088, 330, 198));
  }

  @Test
  void streamsOfAKilledWorkerGoOnElsewhereTokenForToken() throws Exception {
    int streams = 512;
    int tokens = 120;
    var plan =
        Cluster.Plan.of("cluster", 2).worker(Map.of("DYNAMO_WORKER_TOKEN_INTERVAL", "200ms"));
    try (var cluster = plan.start();
        var crowd = Crowd.ask(cluster.frontend(), 0, streams, tokens)) {
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
      ServerFacts.awaitMetric(cluster.frontend(), REQUESTS, "status=\"success\"", streams);
      ServerFacts.awaitMetric(cluster.frontend(), REQUESTS, "", streams);
      awaitIdle(cluster, 1);
    }
  }

  @Test
  void withoutFaultToleranceTheStreamsOfAKilledWorkerEndInAnErrorFrame() throws Exception {
    int streams = 32;
    int tokens = 100;
    var plan =
        Cluster.Plan.of("cluster-no-retry", 2)
            .frontendArgs("-Dio.dynamo.frontend.dispatch.GenerationLegs/run/Retry/enabled=false")
            .worker(Map.of("DYNAMO_WORKER_TOKEN_INTERVAL", "100ms"));
    try (var cluster = plan.start();
        var crowd = Crowd.ask(cluster.frontend(), 0, streams, tokens)) {
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
      assertThat(ServerFacts.metric(cluster.frontend(), RETRIES, "GenerationLegs.run")).isZero();
      ServerFacts.awaitMetric(cluster.frontend(), REQUESTS, "status=\"error\"", lost);
      assertThat(ServerFacts.metric(cluster.frontend(), MIGRATIONS, "")).isZero();
      awaitIdle(cluster, 1);
    }
  }

  @Test
  void workerThatDiesBeforeTheFirstTokenIsReplacedUnseen() throws Exception {
    int streams = 16;
    int tokens = 20;
    var plan =
        Cluster.Plan.of("cluster-prefill", 2)
            .worker(Map.of("DYNAMO_WORKER_PREFILL_PER_TOKEN", "300ms"));
    try (var cluster = plan.start();
        var crowd = Crowd.ask(cluster.frontend(), 0, streams, tokens)) {
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
      ServerFacts.awaitMetric(cluster.frontend(), RETRIES, "GenerationLegs.run", lost);
      ServerFacts.awaitMetric(cluster.frontend(), MIGRATIONS, "", lost);
      assertThat(
              ServerFacts.metric(cluster.frontend(), MIGRATIONS, "migration_type=\"new_request\""))
          .as("those that had said nothing yet; a pass may have ended just before the kill")
          .isPositive();
      ServerFacts.awaitMetric(cluster.frontend(), REQUESTS, "status=\"success\"", streams);
      awaitIdle(cluster, 1);
    }
  }

  /** Nothing is left of the streams, neither at the frontend nor at the worker. */
  private static void awaitIdle(Cluster cluster, int worker) {
    ServerFacts.awaitMetric(cluster.frontend(), INFLIGHT, "", 0);
    ServerFacts.awaitMetric(cluster.worker(worker), "dynamo_component_inflight_requests", "", 0);
    Polling.until(
        "the engine is idle",
        Duration.ofSeconds(10),
        () -> {
          var status = ServerFacts.worker(cluster.worker(worker));
          return status.running() == 0 && status.waiting() == 0 && status.heldBlocks() == 0;
        });
  }
}
