package io.dynamo.runtime.wiring;

import io.dynamo.metrics.Label;
import io.dynamo.metrics.MetricName;
import io.dynamo.metrics.Metrics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.DoubleSupplier;
import org.eclipse.microprofile.metrics.Counter;
import org.eclipse.microprofile.metrics.Metadata;
import org.eclipse.microprofile.metrics.MetricID;
import org.eclipse.microprofile.metrics.MetricRegistry;
import org.eclipse.microprofile.metrics.Tag;

/**
 * Publishes at {@code /metrics}. Gauges are read at each scrape and durations handed on as they
 * come; counters, for which MicroProfile has no function to read, are carried over by {@link
 * #refresh}, so that counting costs the request path nothing. Safe for concurrent use.
 *
 * <p>Names with a colon, an engine's own, are left to the status server: MicroProfile does not say
 * what becomes of them.
 */
final class MicroProfileMetricsOutlet implements Metrics.Outlet, AutoCloseable {
  private static final long NANOS_PER_UNIT = 1_000_000_000;

  private static final class Carried {
    private final Metrics.Counter from;
    private final Counter to;
    private long carried; // guarded by this

    Carried(Metrics.Counter from, Counter to) {
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
  private final List<Carried> counters = new CopyOnWriteArrayList<>();
  private final List<MetricID> published = new ArrayList<>(); // guarded by itself

  MicroProfileMetricsOutlet(MetricRegistry registry) {
    this.registry = registry;
  }

  @Override
  public void counter(MetricName name, List<Label> labels, Metrics.Counter counter) {
    if (isForeign(name)) {
      return;
    }
    var tags = tags(name, labels);
    var carried = new Carried(counter, registry.counter(metadata(name), tags));
    carried.refresh();
    counters.add(carried);
  }

  @Override
  public void gauge(MetricName name, List<Label> labels, DoubleSupplier value) {
    if (isForeign(name)) {
      return;
    }
    registry.gauge(metadata(name), value, DoubleSupplier::getAsDouble, tags(name, labels));
  }

  @Override
  public Metrics.Timer timer(MetricName name, List<Label> labels) {
    if (name.name().endsWith("_tokens")) {
      var histogram = registry.histogram(metadata(name), tags(name, labels));
      return nanos -> histogram.update(nanos / NANOS_PER_UNIT);
    }
    if (isForeign(name) || !name.name().endsWith("_seconds")) { // it would be called so anyway
      return _ -> {};
    }
    var timer = registry.timer(metadata(name), tags(name, labels));
    return nanos -> timer.update(Duration.ofNanos(nanos));
  }

  /** Carries over what the counters have counted. To be called every second or so. */
  void refresh() {
    counters.forEach(Carried::refresh);
  }

  private static boolean isForeign(MetricName name) {
    return name.name().indexOf(':') >= 0;
  }

  private static Metadata metadata(MetricName name) {
    return Metadata.builder().withName(name.name()).withDescription(name.help()).build();
  }

  private Tag[] tags(MetricName name, List<Label> labels) {
    var tags =
        labels.stream().map(label -> new Tag(label.key(), label.value())).toArray(Tag[]::new);
    synchronized (published) {
      published.add(new MetricID(name.name(), tags));
    }
    return tags;
  }

  /** Takes back all that was published here. */
  @Override
  public void close() {
    counters.clear();
    synchronized (published) {
      published.forEach(registry::remove);
      published.clear();
    }
  }
}
