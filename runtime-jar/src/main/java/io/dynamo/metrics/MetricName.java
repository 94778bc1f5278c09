package io.dynamo.metrics;

import java.util.Arrays;
import java.util.List;

/**
 * A metric's name as a scraper sees it, and its meaning.
 *
 * @param name {@code dynamo_<component>_<what>_<unit>}, counters ending in {@code _total}
 * @param help one sentence
 * @param buckets upper bounds of a histogram, ascending; empty where the outlet chooses, and for
 *     other metrics
 */
public record MetricName(String name, String help, List<Double> buckets) {
  public MetricName {
    buckets = List.copyOf(buckets);
    for (int i = 1; i < buckets.size(); i++) {
      if (buckets.get(i) <= buckets.get(i - 1)) {
        throw new IllegalArgumentException("the buckets of " + name + " do not rise: " + buckets);
      }
    }
  }

  public MetricName(String name, String help) {
    this(name, help, List.of());
  }

  /** Creates a histogram's name. */
  public static MetricName histogram(String name, String help, double... buckets) {
    return new MetricName(name, help, Arrays.stream(buckets).boxed().toList());
  }

  @Override
  public String toString() {
    return name;
  }
}
