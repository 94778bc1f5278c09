package io.dynamo.metrics;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.DoubleSupplier;
import java.util.function.Supplier;

/**
 * Publishes meters as Prometheus text, version 0.0.4, under exactly their names: counters without
 * {@code _total} keep their names, which libraries that follow OpenMetrics refuse. Families and
 * series are in alphabetical order. Safe for concurrent use; recording takes no lock.
 */
public final class PrometheusText implements Metrics.RevocableOutlet {
  /** One set of labels of a family. */
  @FunctionalInterface
  private interface Series {
    void write(String name, String labels, StringBuilder to);
  }

  private static final class Family {
    final String help;
    final String type;
    final Map<String, Series> series = new TreeMap<>(); // by label text

    Family(String help, String type) {
      this.help = help;
      this.type = type;
    }
  }

  private final Map<String, Family> families = new TreeMap<>(); // guarded by itself

  @Override
  public void counter(MetricName name, List<Label> labels, Metrics.Counter counter) {
    add(name, "counter", labels, one(() -> Long.toString(counter.value())));
  }

  @Override
  public void gauge(MetricName name, List<Label> labels, DoubleSupplier value) {
    add(name, "gauge", labels, one(() -> number(value.getAsDouble())));
  }

  @Override
  public void histogram(MetricName name, List<Label> labels, Histogram histogram) {
    add(name, "histogram", labels, (family, text, to) -> write(family, text, histogram, to));
  }

  @Override
  public void gone(MetricName name, List<Label> labels) {
    synchronized (families) {
      var family = families.get(name.name());
      if (family != null && family.series.remove(text(labels)) != null && family.series.isEmpty()) {
        families.remove(name.name());
      }
    }
  }

  private static void write(String name, String labels, Histogram histogram, StringBuilder to) {
    long last = 0; // ascending although other threads record meanwhile
    for (int i = 0; i < histogram.buckets(); i++) {
      last = Math.max(last, histogram.upTo(i));
      bucket(name, labels, Histogram.text(histogram.bound(i)), last, to);
    }
    last = Math.max(last, histogram.count());
    bucket(name, labels, "+Inf", last, to);
    sample(name + "_sum", labels, number(histogram.sum()), to);
    sample(name + "_count", labels, Long.toString(last), to);
  }

  private static void bucket(
      String name, String labels, String bound, long count, StringBuilder to) {
    var le = "le=\"" + bound + "\"";
    sample(name + "_bucket", labels.isEmpty() ? le : labels + "," + le, Long.toString(count), to);
  }

  private static Series one(Supplier<String> value) {
    return (name, labels, to) -> sample(name, labels, value.get(), to);
  }

  private void add(MetricName name, String type, List<Label> labels, Series series) {
    synchronized (families) {
      var family = families.computeIfAbsent(name.name(), _ -> new Family(name.help(), type));
      if (!family.type.equals(type)) {
        throw new IllegalStateException(
            "metric %s is a %s already, not a %s".formatted(name, family.type, type));
      }
      family.series.put(text(labels), series);
    }
  }

  private static String text(List<Label> labels) {
    var text = new StringBuilder();
    labels.stream()
        .sorted(Comparator.comparing(Label::key))
        .forEach(label -> text.append(text.isEmpty() ? "" : ",").append(text(label)));
    return text.toString();
  }

  /** Returns {@code label} as it stands in a sample. */
  public static String text(Label label) {
    return label.key() + "=\"" + escaped(label.value()) + '"';
  }

  private static String escaped(String value) {
    return value.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
  }

  /** Returns the text of all meters. A gauge is read on the calling thread. */
  public String write() {
    var names = new ArrayList<String>();
    var copies = new ArrayList<Family>();
    synchronized (families) {
      families.forEach(
          (name, family) -> {
            var copy = new Family(family.help, family.type);
            copy.series.putAll(family.series);
            names.add(name);
            copies.add(copy);
          });
    }
    var text = new StringBuilder();
    for (int i = 0; i < names.size(); i++) {
      var name = names.get(i);
      var family = copies.get(i);
      text.append("# HELP ").append(name).append(' ');
      text.append(family.help.replace("\\", "\\\\").replace("\n", "\\n")).append('\n');
      text.append("# TYPE ").append(name).append(' ').append(family.type).append('\n');
      family.series.forEach((labels, series) -> series.write(name, labels, text));
    }
    return text.toString();
  }

  private static void sample(String name, String labels, String value, StringBuilder to) {
    to.append(name);
    if (!labels.isEmpty()) {
      to.append('{').append(labels).append('}');
    }
    to.append(' ').append(value).append('\n');
  }

  /** Formats without an exponent, and whole numbers without a fraction. */
  private static String number(double value) {
    if (Double.isNaN(value)) {
      return "NaN";
    }
    if (Double.isInfinite(value)) {
      return value > 0 ? "+Inf" : "-Inf";
    }
    return Histogram.text(value);
  }
}
