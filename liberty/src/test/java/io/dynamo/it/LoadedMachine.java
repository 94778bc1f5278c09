package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * Workers on a machine that has much else to do: none is taken for silent, no stream moves, and
 * each text is whole. Run by {@code .ci/full}, alone, as it would slow down all other tests.
 */
class LoadedMachine {
  /** Processes that compute without end: the load that they add. */
  private static final int BUSY = 20;

  private static final int ROUNDS = 3;
  private static final int STREAMS = 8;
  private static final int TOKENS = 120; // at 150 ms: 18 s a round
  private static final Duration SETTLED = Duration.ofMinutes(5);
  private static final String MIGRATIONS = "dynamo_frontend_model_migration_total";

  @Test
  void noWorkerIsTakenForSilentAtLoadTwenty() throws Exception {
    var oracle = OracleText.ofShippedModel();
    try (var cluster =
        Cluster.Plan.of("loaded", 2)
            .worker(Map.of("DYNAMO_WORKER_TOKEN_INTERVAL", "150ms"))
            .start()) {
      var busy = new ArrayList<Process>();
      try {
        for (int i = 0; i < BUSY; i++) {
          busy.add(computing());
        }
        for (int round = 0; round < ROUNDS; round++) {
          try (var crowd = Crowd.ask(cluster.frontend(), round * STREAMS, STREAMS, TOKENS)) {
            crowd.endsAs(oracle, TOKENS);
          }
        }
        assertThat(busy).allMatch(Process::isAlive);
      } finally {
        busy.forEach(Process::destroyForcibly);
      }
      assertThat(ServerFacts.metric(cluster.frontend(), MIGRATIONS, "")).isZero();
      ServerFacts.awaitMetric(
          cluster.frontend(),
          "dynamo_frontend_requests_total",
          "status=\"success\"",
          ROUNDS * STREAMS);
      Polling.until("both workers are still there", SETTLED, () -> cluster.registered() == 2);
    }
  }

  private static Process computing() throws IOException {
    return new ProcessBuilder(List.of("sh", "-c", "while :; do :; done"))
        .redirectOutput(Redirect.DISCARD)
        .redirectError(Redirect.DISCARD)
        .start();
  }
}
