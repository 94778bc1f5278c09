package io.dynamo.router.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.config.router.RouterSettings.Mode;
import io.dynamo.metrics.RouterMetrics;
import org.junit.jupiter.api.Test;

/** Tests of the metrics of requests. */
class RouteMetricsTest extends RouterHarness {
  @Test
  void completedRequestsAreMeasured() {
    var recorded = new RecordedHistograms();
    metrics.attach(recorded);
    workers.set(1);
    try (var router = router(Mode.KV)) {
      var decision = router.route(request(prompt(0, 40)));
      decision.prefillDone();
      decision.generated(1);
      decision.generated(3);
      decision.close();
      decision.close();
    }
    assertThat(counted(RouterMetrics.REQUESTS_STARTED)).isEqualTo(1);
    assertThat(counted(RouterMetrics.REQUESTS)).isEqualTo(1);
    assertThat(recorded.of("dynamo_component_router_input_sequence_tokens").sum()).isEqualTo(40);
    assertThat(recorded.of("dynamo_component_router_output_sequence_tokens").sum()).isEqualTo(4);
    assertThat(recorded.of("dynamo_component_router_kv_hit_rate").sum()).isZero();
    assertThat(recorded.used())
        .contains(
            "dynamo_component_router_time_to_first_token_seconds",
            "dynamo_component_router_inter_token_latency_seconds",
            "dynamo_router_overhead_block_hashing_ms",
            "dynamo_router_overhead_indexer_find_matches_ms",
            "dynamo_router_overhead_scheduling_ms",
            "dynamo_router_overhead_total_ms");
  }
}
