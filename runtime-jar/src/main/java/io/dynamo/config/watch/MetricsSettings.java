package io.dynamo.config.watch;

import java.util.Map;

/**
 * How the frontend's metrics are published. Keys: {@code dynamo.metrics.*}.
 *
 * @param prefix in place of {@code dynamo_frontend}
 * @param buckets by what they are of, {@code ttft} for example
 */
public record MetricsSettings(String prefix, Map<String, Buckets> buckets) {
  /**
   * A logarithmic scale.
   *
   * @param least where it begins
   * @param most where it ends
   * @param count of bounds, the first of them 0
   */
  public record Buckets(double least, double most, int count) {}

  public MetricsSettings {
    buckets = Map.copyOf(buckets);
  }
}
