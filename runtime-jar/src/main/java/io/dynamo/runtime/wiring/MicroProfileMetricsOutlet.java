package io.dynamo.runtime.wiring;

import io.dynamo.metrics.Histogram;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.MetricName;
import io.dynamo.metrics.Metrics;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.DoubleSupplier;
import org.eclipse.microprofile.metrics.Counter;
import org.eclipse.microprofile.metrics.Metadata;
import org.eclipse.microprofile.metrics.MetricID;
import org.eclipse.microprofile.metrics.MetricRegistry;
import org.eclipse.microprofile.metrics.Tag;
import org.jspecify.annotations.Nullable;

/**
 * Publishes at {@code /metrics}, so that counting costs the request path nothing: gauges and
 * counters are read at each scrape. If the registry has no such counters, {@link #refresh} copies
 * their values. Safe for concurrent use.
 *
 * <p>MicroProfile's own histograms take whole numbers and cost more per value than a token may. A
 * histogram is therefore published as gauges with the names and labels that Prometheus gives its
 * parts ({@code _bucket} with {@code le}, {@code _sum}, {@code _count}), which queries expect. A
 * counter whose name does not end in {@code _total} is also published as a gauge, or that ending
 * would be added.
 *
 * <p>Names with a colon, an engine's own, are left to the status server: MicroProfile does not
 * define how they are handled.
 */
final class MicroProfileMetricsOutlet implements Metrics.RevocableOutlet, AutoCloseable {
  private static final class CounterCopy {
    private final Metrics.Counter from;
    private final Counter to;
    private long carried; // guarded by this

    CounterCopy(Metrics.Counter from, Counter to) {
      this.from = from;
      this.to = to;
    }

    synchronized void refresh() {
      long now = from.value();
      to.inc(now - carried);
      carried = now;
    }
  }

  private final MetricRegistry registry;
  private final @Nullable FunctionCounters live;
  private final List<CounterCopy> counters = new CopyOnWriteArrayList<>();
  private final List<MetricID> published = new ArrayList<>(); // guarded by itself
  private final Map<MetricID, DoubleSupplier> read = // a registry may not keep them
      new ConcurrentHashMap<>();

  MicroProfileMetricsOutlet(MetricRegistry registry) {
    this.registry = registry;
    live = FunctionCounters.of(registry);
    if (live == null) {
      System.getLogger(MicroProfileMetricsOutlet.class.getName())
          .log(
              System.Logger.Level.WARNING,
              "counters at /metrics lag by up to a second: {0} has none that are read",
              registry.getClass().getName());
    }
  }

  @Override
  public void counter(MetricName name, List<Label> labels, Metrics.Counter counter) {
    if (isForeign(name)) {
      return;
    }
    if (!name.name().endsWith("_total")) {
      gauge(name, labels, counter::value);
      return;
    }
    var tags = tags(name, labels);
    if (live != null) {
      live.add(metadata(name), tags, counter);
      return;
    }
    var carried = new CounterCopy(counter, registry.counter(metadata(name), tags));
    carried.refresh();
    counters.add(carried);
  }

  @Override
  public void gauge(MetricName name, List<Label> labels, DoubleSupplier value) {
    if (isForeign(name)) {
      return;
    }
    var tags = tags(name, labels);
    read.put(new MetricID(name.name(), tags), value);
    registry.gauge(metadata(name), value, DoubleSupplier::getAsDouble, tags);
  }

  @Override
  public void histogram(MetricName name, List<Label> labels, Histogram histogram) {
    var bucket = new MetricName(name.name() + "_bucket", name.help());
    for (int i = 0; i <= histogram.buckets(); i++) {
      int at = i;
      var bound = i == histogram.buckets() ? "+Inf" : Histogram.text(histogram.bound(i));
      var bounded = new ArrayList<>(labels);
      bounded.add(new Label("le", bound));
      gauge(bucket, bounded, () -> histogram.upTo(at));
    }
    gauge(new MetricName(name.name() + "_sum", name.help()), labels, histogram::sum);
    gauge(new MetricName(name.name() + "_count", name.help()), labels, histogram::count);
  }

  @Override
  public void gone(MetricName name, List<Label> labels) {
    var id = new MetricID(name.name(), tags(labels));
    if (read.remove(id) != null) {
      synchronized (published) {
        published.remove(id);
      }
      registry.remove(id);
    }
  }

  /**
   * Copies the values of counters that the registry does not read. To be called every second or so.
   */
  void refresh() {
    counters.forEach(CounterCopy::refresh);
  }

  private static boolean isForeign(MetricName name) {
    return name.name().indexOf(':') >= 0;
  }

  private static Metadata metadata(MetricName name) {
    return Metadata.builder().withName(name.name()).withDescription(name.help()).build();
  }

  private Tag[] tags(MetricName name, List<Label> labels) {
    var tags = tags(labels);
    synchronized (published) {
      published.add(new MetricID(name.name(), tags));
    }
    return tags;
  }

  private static Tag[] tags(List<Label> labels) {
    return labels.stream().map(label -> new Tag(label.key(), label.value())).toArray(Tag[]::new);
  }

  /** Removes everything published here from the registry. */
  @Override
  public void close() {
    counters.clear();
    read.clear();
    synchronized (published) {
      published.forEach(registry::remove);
      published.clear();
    }
  }
}
