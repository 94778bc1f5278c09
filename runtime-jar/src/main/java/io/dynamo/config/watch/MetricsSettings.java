package io.dynamo.config.watch;

import java.util.Map;

/**
 * The settings for publishing the frontend's metrics. Keys: {@code dynamo.metrics.*}.
 *
 * @param prefix replaces {@code dynamo_frontend}
 * @param buckets scales by the quantity measured, {@code ttft} for example
 */
public record MetricsSettings(String prefix, Map<String, Buckets> buckets) {
  /**
   * A logarithmic scale.
   *
   * @param least lowest bound
   * @param most highest bound
   * @param count number of bounds, the first of them 0
   */
  public record Buckets(double least, double most, int count) {}

  public MetricsSettings {
    buckets = Map.copyOf(buckets);
  }
}
