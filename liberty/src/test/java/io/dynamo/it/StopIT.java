package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** A server that stops with all its roles ends its streams in good order. */
class StopIT {
  private static final int TOKENS = 80;

  /** Of eight seconds of stream the drain leaves four; the server itself would wait thirty. */
  @Test
  void aLongStreamEndsInATypedErrorWithTheDrain() throws Exception {
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
      assertThat(answer.error()).contains("\"type\":\"service_unavailable\"");
      assertThat(answer.text()).isNotEmpty();
      assertThat(oracle.answer(1, TOKENS)).startsWith(answer.text());
      server.awaitExit();
    }
  }
}
