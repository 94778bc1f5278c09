package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** A server that stops with all its roles leaves nobody with half an answer untold. */
class StopIT {
  private static final int TOKENS = 80;

  /** How long Liberty waits for its open requests differs; the drain tells those it ends. */
  @Test
  void anOpenStreamIsWholeOrEndsInATypedError() throws Exception {
    var oracle = OracleText.ofShippedModel();
    var plan =
        ServerProcess.Plan.named("stop")
            .with("DYNAMO_WORKER_TOKEN_INTERVAL", "100ms")
            .with("DYNAMO_RUNTIME_HANDOVER_AFTER", "0s")
            .with("DYNAMO_RUNTIME_DRAIN_TIMEOUT", "4s");
    try (var server = plan.start().awaitReady();
        var crowd = Crowd.ask(server, 1, 1, TOKENS)) {
      crowd.awaitFlowing();

      server.terminate();

      var answer = crowd.outcomes().getFirst();
      var whole = oracle.answer(1, TOKENS);
      if (answer.error() == null) {
        assertThat(answer.text()).isEqualTo(whole);
      } else {
        assertThat(answer.error()).contains("\"type\":\"service_unavailable\"");
        assertThat(whole).startsWith(answer.text());
      }
      server.awaitExit();
    }
  }
}
