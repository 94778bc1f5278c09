package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** A start with synthetic requests leaves compiled code, and a line in the log. */
class WarmUpIT {
  @Test
  void theServerIsReadyAfterItsWarmUpAndShowsNoneOfItsRequests() throws Exception {
    var plan = ServerProcess.Plan.named("warm-up").with("DYNAMO_FRONTEND_WARM_UP", "10s");
    try (var server = plan.start()) {
      server.awaitReady();

      assertThat(server.messages()).containsPattern("warmed up by [1-9][0-9]* requests");
      assertThat(server.messages()).doesNotContain("model=warm-up").doesNotContain("endpoint=chat");
      assertThat(server.get("/v1/models").body()).contains("tiny").doesNotContain("warm-up");
      assertThat(server.get("/metrics").body())
          .contains("dynamo_frontend_")
          .doesNotContain("warm-up")
          .doesNotContain("dynamo_frontend_requests_total{");
    }
  }
}
