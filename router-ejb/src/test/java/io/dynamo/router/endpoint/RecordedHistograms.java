package io.dynamo.router.endpoint;

import io.dynamo.metrics.Histogram;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.MetricName;
import io.dynamo.metrics.Metrics;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.DoubleSupplier;
import java.util.stream.Collectors;

/** The histograms of a router, by name. For one thread. */
final class RecordedHistograms implements Metrics.Outlet {
  private final Map<String, Histogram> histograms = new HashMap<>();

  @Override
  public void counter(MetricName name, List<Label> labels, Metrics.Counter counter) {}

  @Override
  public void gauge(MetricName name, List<Label> labels, DoubleSupplier value) {}

  @Override
  public void histogram(MetricName name, List<Label> labels, Histogram histogram) {
    histograms.put(name.name(), histogram);
  }

  Histogram of(String name) {
    return Objects.requireNonNull(histograms.get(name), name);
  }

  /**
   * Returns the names of the histograms with at least one value; a router creates more than it
   * uses.
   */
  Set<String> used() {
    return histograms.entrySet().stream()
        .filter(histogram -> histogram.getValue().count() > 0)
        .map(Map.Entry::getKey)
        .collect(Collectors.toSet());
  }
}
