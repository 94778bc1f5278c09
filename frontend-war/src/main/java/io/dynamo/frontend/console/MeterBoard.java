package io.dynamo.frontend.console;

import io.dynamo.metrics.Histogram;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.MetricName;
import io.dynamo.metrics.MetricNaming;
import io.dynamo.metrics.Metrics;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The meters of this server by name and labels, for as long as it is attached. Values are read from
 * the meters themselves, when they are asked for. Safe for concurrent use.
 */
final class MeterBoard implements Metrics.RevocableOutlet {
  /** Receives the present value of one series. */
  interface SeriesVisitor {
    void visit(List<Label> labels, double value);
  }

  private final MetricNaming naming;
  private final Map<String, Map<List<Label>, DoubleSupplier>> numbers = new ConcurrentHashMap<>();
  private final Map<String, Map<List<Label>, Histogram>> histograms = new ConcurrentHashMap<>();

  /**
   * @param naming the names under which the metrics are published; callers use the original ones
   */
  MeterBoard(MetricNaming naming) {
    this.naming = naming;
  }

  @Override
  public void counter(MetricName name, List<Label> labels, Metrics.Counter counter) {
    gauge(name, labels, counter::value);
  }

  @Override
  public void gauge(MetricName name, List<Label> labels, DoubleSupplier value) {
    numbers.computeIfAbsent(name.name(), _ -> new ConcurrentHashMap<>()).put(labels, value);
  }

  @Override
  public void histogram(MetricName name, List<Label> labels, Histogram histogram) {
    histograms.computeIfAbsent(name.name(), _ -> new ConcurrentHashMap<>()).put(labels, histogram);
  }

  @Override
  public void gone(MetricName name, List<Label> labels) {
    var series = numbers.get(name.name());
    if (series != null) {
      series.remove(labels);
    }
  }

  /** Visits all series of a counter, level or gauge. */
  void each(MetricName name, SeriesVisitor visitor) {
    var series = numbers.get(naming.published(name).name());
    if (series != null) {
      series.forEach((labels, value) -> visitor.visit(labels, value.getAsDouble()));
    }
  }

  /** Returns the sum of all series that have these labels; 0 when there are none. */
  double sum(MetricName name, Label... having) {
    var sum = new double[1];
    var wanted = List.of(having);
    each(
        name,
        (labels, value) -> {
          if (labels.containsAll(wanted)) {
            sum[0] += value;
          }
        });
    return sum[0];
  }

  /** Returns the values of all histograms that have these labels, together. */
  Distribution distribution(MetricName name, Label... having) {
    var wanted = List.of(having);
    var sum = Distribution.EMPTY;
    var series = histograms.get(naming.published(name).name());
    if (series != null) {
      for (var entry : series.entrySet()) {
        if (entry.getKey().containsAll(wanted)) {
          sum = sum.plus(Distribution.of(entry.getValue()));
        }
      }
    }
    return sum;
  }

  /** Returns the value of a label; null when the series does not have it. */
  static @Nullable String label(List<Label> labels, String key) {
    for (var label : labels) {
      if (label.key().equals(key)) {
        return label.value();
      }
    }
    return null;
  }
}
