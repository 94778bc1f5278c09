package io.dynamo.metrics;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.DoubleSupplier;

/**
 * Owns the numbers of a server. Asking for the same name and labels again gives the same meter.
 * Safe for concurrent use.
 */
public final class Metrics {
  /** Counts up. */
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

  /** Goes up and down. */
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

  /** Durations, counted in buckets by the outlets. */
  public interface Timer {
    void record(long nanos);
  }

  /**
   * Publishes meters. Called for each meter once, on the thread that made it; must not call back.
   */
  public interface Outlet {
    void counter(MetricName name, List<Label> labels, Counter counter);

    void gauge(MetricName name, List<Label> labels, DoubleSupplier value);

    /** What every recorded duration is handed to. */
    Timer timer(MetricName name, List<Label> labels);
  }

  private record Key(String name, List<Label> labels) {}

  private record GaugeMeter(MetricName name, List<Label> labels, DoubleSupplier value) {}

  private static final class Fanout implements Timer {
    final MetricName name;
    final List<Label> labels;
    final Map<Outlet, Timer> sinksByOutlet = new LinkedHashMap<>(); // guarded by lock
    volatile Timer[] sinks = {}; // replaced whole, never edited

    Fanout(MetricName name, List<Label> labels) {
      this.name = name;
      this.labels = labels;
    }

    void add(Outlet outlet) {
      sinksByOutlet.put(outlet, outlet.timer(name, labels));
      sinks = sinksByOutlet.values().toArray(Timer[]::new);
    }

    void remove(Outlet outlet) {
      sinksByOutlet.remove(outlet);
      sinks = sinksByOutlet.values().toArray(Timer[]::new);
    }

    @Override
    public void record(long nanos) {
      for (var sink : sinks) {
        sink.record(nanos);
      }
    }
  }

  private record CounterMeter(MetricName name, List<Label> labels, Counter counter) {}

  private record LevelMeter(MetricName name, List<Label> labels, Level level) {}

  private final Map<Key, Object> meters = new ConcurrentHashMap<>(); // changed under lock
  private final List<Outlet> outlets = new ArrayList<>(); // guarded by lock
  private final Object lock = new Object();

  public Counter counter(MetricName name, Label... labels) {
    var key = new Key(name.name(), List.of(labels));
    if (meters.get(key) instanceof CounterMeter known) {
      return known.counter;
    }
    synchronized (lock) {
      if (meters.get(key) instanceof CounterMeter known) {
        return known.counter;
      }
      var meter = new CounterMeter(name, key.labels, new Counter());
      admit(key, meter);
      outlets.forEach(outlet -> outlet.counter(name, key.labels, meter.counter));
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
      var meter = new LevelMeter(name, key.labels, new Level());
      admit(key, meter);
      outlets.forEach(outlet -> outlet.gauge(name, key.labels, meter.level::value));
      return meter.level;
    }
  }

  /** A number read at each scrape. The first supplier of a name and labels stays. */
  public void gauge(MetricName name, DoubleSupplier value, Label... labels) {
    var key = new Key(name.name(), List.of(labels));
    synchronized (lock) {
      if (!(meters.get(key) instanceof GaugeMeter)) {
        admit(key, new GaugeMeter(name, key.labels, value));
        outlets.forEach(outlet -> outlet.gauge(name, key.labels, value));
      }
    }
  }

  public Timer timer(MetricName name, Label... labels) {
    var key = new Key(name.name(), List.of(labels));
    if (meters.get(key) instanceof Fanout known) {
      return known;
    }
    synchronized (lock) {
      if (meters.get(key) instanceof Fanout known) {
        return known;
      }
      var meter = new Fanout(name, key.labels);
      admit(key, meter);
      outlets.forEach(meter::add);
      return meter;
    }
  }

  private void admit(Key key, Object meter) {
    var other = meters.putIfAbsent(key, meter);
    if (other != null) {
      throw new IllegalStateException(
          "metric " + key + " is a " + other.getClass().getSimpleName() + " already");
    }
  }

  /** Publishes all meters, those to come included, through {@code outlet}. */
  public void attach(Outlet outlet) {
    synchronized (lock) {
      outlets.add(outlet);
      for (var meter : meters.values()) {
        switch (meter) {
          case CounterMeter it -> outlet.counter(it.name, it.labels, it.counter);
          case LevelMeter it -> outlet.gauge(it.name, it.labels, it.level::value);
          case GaugeMeter it -> outlet.gauge(it.name, it.labels, it.value);
          case Fanout it -> it.add(outlet);
          default -> throw new IllegalStateException("unknown meter " + meter);
        }
      }
    }
  }

  /** Tells {@code outlet} nothing more; what it has published is its own to take back. */
  public void detach(Outlet outlet) {
    synchronized (lock) {
      outlets.remove(outlet);
      for (var meter : meters.values()) {
        if (meter instanceof Fanout timer) {
          timer.remove(outlet);
        }
      }
    }
  }
}
