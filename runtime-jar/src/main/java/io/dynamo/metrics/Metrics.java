package io.dynamo.metrics;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.DoubleSupplier;

/**
 * Owns the meters of a server. The same name and labels always return the same meter. Safe for
 * concurrent use.
 */
public final class Metrics {
  /** A number that only increases. */
  public static final class Counter {
    private final LongAdder value = new LongAdder();

    private Counter() {}

    public void increment() {
      value.increment();
    }

    public void add(long amount) {
      value.add(amount);
    }

    public long value() {
      return value.sum();
    }
  }

  /** A number that increases and decreases. */
  public static final class Level {
    private final LongAdder value = new LongAdder();

    private Level() {}

    public void add(long amount) {
      value.add(amount);
    }

    public long value() {
      return value.sum();
    }
  }

  /** Durations and other values, counted in buckets. */
  @FunctionalInterface
  public interface Timer {
    /** Records a duration in nanoseconds, for a metric in seconds. */
    void record(long nanos);

    /** Records {@code value}, in the metric's own unit, {@code times} times. */
    default void record(double value, int times) {
      for (int i = 0; i < times; i++) {
        record(Math.round(value * 1e9));
      }
    }
  }

  /**
   * Publishes meters. Called once for each meter, on the thread that created it; must not call
   * back.
   */
  public interface Outlet {
    void counter(MetricName name, List<Label> labels, Counter counter);

    void gauge(MetricName name, List<Label> labels, DoubleSupplier value);

    /** Registers a histogram whose values are read from {@code histogram} at any time. */
    void histogram(MetricName name, List<Label> labels, Histogram histogram);
  }

  /** An outlet that can remove a gauge. */
  public interface RevocableOutlet extends Outlet {
    /** Removes a gauge whose subject is gone. */
    void gone(MetricName name, List<Label> labels);
  }

  private record Key(String name, List<Label> labels) {}

  private record GaugeMeter(MetricName name, List<Label> labels, DoubleSupplier value) {}

  private record CounterMeter(MetricName name, List<Label> labels, Counter counter) {}

  private record LevelMeter(MetricName name, List<Label> labels, Level level) {}

  private record HistogramMeter(MetricName name, List<Label> labels, Histogram histogram) {}

  private final Map<Key, Object> meters = new ConcurrentHashMap<>(); // changed under lock
  private final List<Outlet> outlets = new ArrayList<>(); // guarded by lock
  private final Object lock = new Object();
  private final MetricNaming naming;

  /** Creates metrics that are published under their own names. */
  public Metrics() {
    this(MetricNaming.PLAIN);
  }

  /**
   * @param naming the names under which metrics are published; callers use the original ones
   */
  public Metrics(MetricNaming naming) {
    this.naming = naming;
  }

  public Counter counter(MetricName name, Label... labels) {
    var key = new Key(name.name(), List.of(labels));
    if (meters.get(key) instanceof CounterMeter known) {
      return known.counter;
    }
    synchronized (lock) {
      if (meters.get(key) instanceof CounterMeter known) {
        return known.counter;
      }
      var published = naming.published(name);
      var meter = new CounterMeter(published, key.labels, new Counter());
      admit(key, meter);
      outlets.forEach(outlet -> outlet.counter(published, key.labels, meter.counter));
      return meter.counter;
    }
  }

  public Level level(MetricName name, Label... labels) {
    var key = new Key(name.name(), List.of(labels));
    if (meters.get(key) instanceof LevelMeter known) {
      return known.level;
    }
    synchronized (lock) {
      if (meters.get(key) instanceof LevelMeter known) {
        return known.level;
      }
      var published = naming.published(name);
      var meter = new LevelMeter(published, key.labels, new Level());
      admit(key, meter);
      outlets.forEach(outlet -> outlet.gauge(published, key.labels, meter.level::value));
      return meter.level;
    }
  }

  /** Adds a gauge read at each scrape. The first supplier of a name and labels stays. */
  public void gauge(MetricName name, DoubleSupplier value, Label... labels) {
    var key = new Key(name.name(), List.of(labels));
    synchronized (lock) {
      if (!(meters.get(key) instanceof GaugeMeter)) {
        var published = naming.published(name);
        admit(key, new GaugeMeter(published, key.labels, value));
        outlets.forEach(outlet -> outlet.gauge(published, key.labels, value));
      }
    }
  }

  /** Removes the gauge of a name and labels; does nothing if there is none. */
  public void removeGauge(MetricName name, Label... labels) {
    var key = new Key(name.name(), List.of(labels));
    synchronized (lock) {
      if (meters.get(key) instanceof GaugeMeter gauge) {
        meters.remove(key);
        for (var outlet : outlets) {
          if (outlet instanceof RevocableOutlet revocable) {
            revocable.gone(gauge.name, key.labels);
          }
        }
      }
    }
  }

  public Timer timer(MetricName name, Label... labels) {
    var key = new Key(name.name(), List.of(labels));
    if (meters.get(key) instanceof HistogramMeter known) {
      return known.histogram;
    }
    synchronized (lock) {
      if (meters.get(key) instanceof HistogramMeter known) {
        return known.histogram;
      }
      var published = naming.published(name);
      var meter = new HistogramMeter(published, key.labels, new Histogram(published.buckets()));
      admit(key, meter);
      outlets.forEach(outlet -> outlet.histogram(published, key.labels, meter.histogram));
      return meter.histogram;
    }
  }

  private void admit(Key key, Object meter) {
    var other = meters.putIfAbsent(key, meter);
    if (other != null) {
      throw new IllegalStateException(
          "metric " + key + " is a " + other.getClass().getSimpleName() + " already");
    }
  }

  /** Publishes all meters, including later ones, through {@code outlet}. */
  public void attach(Outlet outlet) {
    synchronized (lock) {
      outlets.add(outlet);
      for (var meter : meters.values()) {
        switch (meter) {
          case CounterMeter it -> outlet.counter(it.name, it.labels, it.counter);
          case LevelMeter it -> outlet.gauge(it.name, it.labels, it.level::value);
          case GaugeMeter it -> outlet.gauge(it.name, it.labels, it.value);
          case HistogramMeter it -> outlet.histogram(it.name, it.labels, it.histogram);
          default -> throw new IllegalStateException("unknown meter " + meter);
        }
      }
    }
  }

  /** Stops publishing through {@code outlet}, which removes the metrics that it has published. */
  public void detach(Outlet outlet) {
    synchronized (lock) {
      outlets.remove(outlet);
    }
  }
}
