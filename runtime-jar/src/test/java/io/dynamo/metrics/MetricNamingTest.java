package io.dynamo.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MetricNamingTest {
  private static String shown(MetricNaming naming, String name) {
    return naming.published(new MetricName(name, "help")).name();
  }

  @Test
  void thePrefixIsMadeLegalCharacterByCharacterAsDynamoDoes() {
    var naming = new MetricNaming("My-Pre.fix", Map.of());
    assertThat(shown(naming, "dynamo_frontend_requests_total"))
        .isEqualTo("My_Pre_fix_requests_total");
    assertThat(shown(new MetricNaming("9lives", Map.of()), "dynamo_frontend_requests_total"))
        .isEqualTo("_9lives_requests_total");
  }

  @Test
  void familiesOfOtherPartsKeepTheirNames() {
    var naming = new MetricNaming("p", Map.of());
    for (var fixed :
        List.of(
            "dynamo_frontend_stage_duration_seconds",
            "dynamo_frontend_tokenize_seconds",
            "dynamo_frontend_tokenizer_cache_hits_total",
            "dynamo_frontend_router_queue_pending_requests",
            "dynamo_component_requests_total")) {
      assertThat(shown(naming, fixed)).isEqualTo(fixed);
    }
    assertThat(shown(naming, "dynamo_frontend_tokenizer_latency_ms"))
        .isEqualTo("p_tokenizer_latency_ms");
  }

  @Test
  void metersAreAskedForByTheirWrittenNameAndPublishedByTheOther() {
    var metrics = new Metrics(new MetricNaming("p", Map.of("latency_seconds", List.of(1.0, 2.0))));
    var text = new PrometheusText();
    metrics.attach(text);
    var name = MetricName.histogram("dynamo_frontend_latency_seconds", "help", 5);
    metrics.timer(name).record(1_500_000_000L);
    metrics.timer(name).record(7, 3);

    assertThat(text.write())
        .contains("p_latency_seconds_bucket{le=\"1\"} 0\n")
        .contains("p_latency_seconds_bucket{le=\"2\"} 1\n")
        .contains("p_latency_seconds_bucket{le=\"+Inf\"} 4\n")
        .contains("p_latency_seconds_sum 22.5\n")
        .contains("p_latency_seconds_count 4\n")
        .doesNotContain("dynamo_frontend_");
  }
}
