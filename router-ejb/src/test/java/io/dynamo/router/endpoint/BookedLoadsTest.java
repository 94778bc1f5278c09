package io.dynamo.router.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.config.router.RouterSettings.Mode;
import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.WorkerRank;
import org.junit.jupiter.api.Test;

class BookedLoadsTest extends RouterHarness {
  private static final WorkerRank RANK = new WorkerRank(new InstanceId(1), 0);

  @Test
  void bookedLoadIsReportedUntilItIsReleased() {
    workers.set(1);
    try (var router = router(Mode.KV)) {
      assertThat(router.blocks(ENDPOINT, RANK)).as("of an endpoint that nobody asked").isZero();
      assertThat(router.prefillTokens(ENDPOINT, RANK)).isZero();
      var decision = router.route(request(prompt(0, 42)));
      assertThat(router.blocks(ENDPOINT, RANK)).isEqualTo(10);
      assertThat(router.prefillTokens(ENDPOINT, RANK)).isEqualTo(42);
      assertThat(router.blocks(ENDPOINT, new WorkerRank(new InstanceId(2), 0))).isZero();
      decision.prefillDone();
      assertThat(router.prefillTokens(ENDPOINT, RANK)).isZero();
      assertThat(router.blocks(ENDPOINT, RANK)).isEqualTo(10);
      decision.close();
      assertThat(router.blocks(ENDPOINT, RANK)).isZero();
    }
  }
}
