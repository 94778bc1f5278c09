package io.dynamo.frontend.console;

import io.dynamo.metrics.Histogram;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.MetricName;
import io.dynamo.metrics.MetricNaming;
import io.dynamo.metrics.Metrics;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
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

  private static final String MODEL = "model";
  private static final String NO_MODEL = ""; // no model has this name

  private final MetricNaming naming;
  private final Map<String, Family<DoubleSupplier>> numbers = new ConcurrentHashMap<>();
  private final Map<String, Family<Histogram>> histograms = new ConcurrentHashMap<>();

  /** The series of one name, by model: reading one model costs nothing for the others. */
  private static final class Family<M> {
    private final Map<String, Map<List<Label>, M>> byModel = new ConcurrentHashMap<>();

    private static String model(List<Label> labels) {
      var model = label(labels, MODEL);
      return model == null ? NO_MODEL : model;
    }

    void put(List<Label> labels, M meter) {
      byModel.compute( // whole: another series of the model may be the last to go
          model(labels),
          (_, known) -> {
            var series = known == null ? new ConcurrentHashMap<List<Label>, M>() : known;
            series.put(labels, meter);
            return series;
          });
    }

    void remove(List<Label> labels) {
      byModel.computeIfPresent(
          model(labels),
          (_, series) -> {
            series.remove(labels);
            return series.isEmpty() ? null : series;
          });
    }

    /** Visits the series that have all of {@code wanted}. */
    void each(List<Label> wanted, BiConsumer<List<Label>, M> visitor) {
      var model = label(wanted, MODEL);
      var groups =
          model == null ? byModel.values() : List.of(byModel.getOrDefault(model, Map.of()));
      for (var series : groups) {
        series.forEach(
            (labels, meter) -> {
              if (labels.containsAll(wanted)) {
                visitor.accept(labels, meter);
              }
            });
      }
    }
  }

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
    numbers.computeIfAbsent(name.name(), _ -> new Family<>()).put(labels, value);
  }

  @Override
  public void histogram(MetricName name, List<Label> labels, Histogram histogram) {
    histograms.computeIfAbsent(name.name(), _ -> new Family<>()).put(labels, histogram);
  }

  @Override
  public void gone(MetricName name, List<Label> labels) {
    var series = numbers.get(name.name());
    if (series != null) {
      series.remove(labels);
    }
  }

  /** Visits the series of a counter, level or gauge that have these labels. */
  void each(MetricName name, List<Label> having, SeriesVisitor visitor) {
    var family = numbers.get(naming.published(name).name());
    if (family != null) {
      family.each(having, (labels, value) -> visitor.visit(labels, value.getAsDouble()));
    }
  }

  /** Returns the sum of all series that have these labels; 0 when there are none. */
  double sum(MetricName name, Label... having) {
    var sum = new double[1];
    each(name, List.of(having), (_, value) -> sum[0] += value);
    return sum[0];
  }

  /** Returns the values of all histograms that have these labels, together. */
  Distribution distribution(MetricName name, Label... having) {
    var sum = new Distribution[] {Distribution.EMPTY};
    var family = histograms.get(naming.published(name).name());
    if (family != null) {
      family.each(
          List.of(having), (_, histogram) -> sum[0] = sum[0].plus(Distribution.of(histogram)));
    }
    return sum[0];
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
