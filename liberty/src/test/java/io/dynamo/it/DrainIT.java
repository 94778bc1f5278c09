package io.dynamo.it;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/** A worker that is drained leaves no client with half an answer. Each test can run alone. */
@ManyServers
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class DrainIT {
  private static final String RETRIES = "ft_retry_retries_total";
  private static final String REQUESTS = "dynamo_frontend_requests_total";
  private static final String SUCCESS = "status=\"success\"";
  private static final String WORKER_REQUESTS = "dynamo_component_requests_total";
  private static final int STREAMS = 64;
  private static final int TOKENS = 120;

  @SuppressWarnings("NullAway.Init") // before all
  private static OracleText oracle;

  private static @Nullable Cluster started;

  @BeforeAll
  static void start() throws Exception {
    oracle = OracleText.ofShippedModel();
    started =
        Cluster.Plan.of("drain", 2).worker(Map.of("DYNAMO_WORKER_TOKEN_INTERVAL", "70ms")).start();
  }

  @AfterAll
  static void stop() {
    if (started != null) {
      started.close();
    }
  }

  @Test
  @Order(1)
  void drainedWorkerEndsItsStreamsAndGetsNoMore() throws Exception {
    var cluster = requireNonNull(started);
    try (var crowd = Crowd.ask(cluster.frontend(), 0, STREAMS, TOKENS)) {
      crowd.awaitFlowing();
      var leaving = cluster.worker(0);
      int asked = ServerFacts.worker(leaving).running(); // all that were sent there: none has ended
      assertThat(asked).isPositive();

      assertThat(ServerFacts.drain(leaving)).isEqualTo(202);

      awaitGone(cluster);
      assertThat(leaving.get("/health/ready").statusCode()).isEqualTo(503);
      try (var later = Crowd.ask(cluster.frontend(), STREAMS, STREAMS, 20)) {
        later.endsAs(oracle, 20);
      }
      crowd.endsAs(oracle, TOKENS);
      Polling.until(
          "the worker is closed",
          Duration.ofSeconds(30),
          () -> ServerFacts.worker(leaving).state().equals("closed"));
      assertThat(ServerFacts.worker(leaving).heldBlocks()).isZero();
      ServerFacts.awaitMetric(leaving, WORKER_REQUESTS, ServerFacts.GENERATE, asked);
      ServerFacts.awaitMetric(leaving, "dynamo_component_inflight_requests", "", 0);
      assertThat(ServerFacts.metric(cluster.frontend(), RETRIES, "GenerationLegs.run"))
          .as("all ended where they were")
          .isZero();
    }
  }

  @Test
  @Order(2)
  void streamsThatOutliveTheDrainOfATerminatedWorkerGoOnElsewhere() throws Exception {
    var cluster = requireNonNull(started);
    cluster.replaceWorker(0, Map.of("DYNAMO_RUNTIME_DRAIN_TIMEOUT", "1s"));
    long succeeded = ServerFacts.metric(cluster.frontend(), REQUESTS, SUCCESS);
    try (var crowd = Crowd.ask(cluster.frontend(), 0, STREAMS, TOKENS)) {
      crowd.awaitFlowing();
      long moving = ServerFacts.worker(cluster.worker(0)).running();
      assertThat(moving).isPositive();

      cluster.worker(0).terminate();

      awaitGone(cluster);
      try (var later = Crowd.ask(cluster.frontend(), STREAMS, STREAMS, 20)) {
        later.endsAs(oracle, 20);
      }
      crowd.endsAs(oracle, TOKENS);
      cluster.worker(0).awaitExit();
      ServerFacts.awaitMetric(cluster.frontend(), RETRIES, "GenerationLegs.run", moving);
      ServerFacts.awaitMetric(cluster.frontend(), REQUESTS, SUCCESS, succeeded + 2L * STREAMS);
    }
  }

  private static void awaitGone(Cluster cluster) {
    Polling.until(
        "the worker has left discovery", Duration.ofSeconds(10), () -> cluster.registered() == 1);
  }
}
