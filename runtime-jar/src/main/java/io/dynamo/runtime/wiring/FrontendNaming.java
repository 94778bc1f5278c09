package io.dynamo.runtime.wiring;

import io.dynamo.config.watch.MetricsSettings;
import io.dynamo.metrics.LogBuckets;
import io.dynamo.metrics.MetricNaming;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Applies the operator's names and scales to the frontend's metrics. */
final class FrontendNaming {
  /** The histograms on each scale. */
  private static final Map<String, List<String>> ON_SCALE =
      Map.of(
          "request-duration", List.of("request_duration_seconds"),
          "input-sequence", List.of("input_sequence_tokens", "cached_tokens"),
          "output-sequence", List.of("output_sequence_tokens"),
          "ttft", List.of("time_to_first_token_seconds"),
          "itl", List.of("inter_token_latency_seconds"));

  private FrontendNaming() {}

  static MetricNaming of(MetricsSettings settings) {
    Map<String, List<Double>> buckets = new HashMap<>();
    settings
        .buckets()
        .forEach(
            (scale, bounds) -> {
              for (var name : ON_SCALE.getOrDefault(scale, List.of())) {
                buckets.put(name, LogBuckets.of(bounds.least(), bounds.most(), bounds.count()));
              }
            });
    return new MetricNaming(settings.prefix(), buckets);
  }
}
