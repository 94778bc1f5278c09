package io.dynamo.router;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.config.RouterSettings.Mode;
import io.dynamo.metrics.Histogram;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.MetricName;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.RouterMetrics;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.DoubleSupplier;
import org.junit.jupiter.api.Test;

/** What is counted of requests. */
class RouteMetricsTest extends RouterHarness {
  @Test
  void whatBecomesOfRequestsIsMeasured() {
    var recorded = new Recorder();
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
    assertThat(recorded.sum("dynamo_component_router_input_sequence_tokens")).isEqualTo(40);
    assertThat(recorded.sum("dynamo_component_router_output_sequence_tokens")).isEqualTo(4);
    assertThat(recorded.sum("dynamo_component_router_kv_hit_rate")).isZero();
    assertThat(recorded.counts())
        .containsKeys(
            "dynamo_component_router_time_to_first_token_seconds",
            "dynamo_component_router_inter_token_latency_seconds",
            "dynamo_router_overhead_block_hashing_ms",
            "dynamo_router_overhead_indexer_find_matches_ms",
            "dynamo_router_overhead_scheduling_ms",
            "dynamo_router_overhead_total_ms");
  }

  private static final class Recorder implements Metrics.Outlet {
    final Map<String, Histogram> histograms = new HashMap<>();

    @Override
    public void counter(MetricName name, List<Label> labels, Metrics.Counter counter) {}

    @Override
    public void gauge(MetricName name, List<Label> labels, DoubleSupplier value) {}

    @Override
    public void histogram(MetricName name, List<Label> labels, Histogram histogram) {
      histograms.put(name.name(), histogram);
    }

    double sum(String name) {
      return Objects.requireNonNull(histograms.get(name), name).sum();
    }

    /** Of those that something was recorded in by now: a router makes more than it uses. */
    Map<String, Long> counts() {
      var counts = new HashMap<String, Long>();
      histograms.forEach((name, it) -> counts.put(name, it.count()));
      counts.values().removeIf(count -> count == 0);
      return counts;
    }
  }
}
