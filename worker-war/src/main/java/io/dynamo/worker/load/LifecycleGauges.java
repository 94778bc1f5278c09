package io.dynamo.worker.load;

import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.WorkerMetrics;
import java.util.function.LongSupplier;

/**
 * Publishes how long a worker took to load, drain and clean up, as gauges that are read at every
 * scrape. Safe for concurrent use.
 */
public final class LifecycleGauges {
  private static final double NANOS_PER_SECOND = 1e9;

  private volatile long drainNanos; // 0 before the drain
  private volatile long cleanupNanos;

  private LifecycleGauges() {}

  /**
   * Adds the gauges of a worker that has started.
   *
   * @param loadNanos gives how long its latest engine took to load, in nanoseconds
   */
  public static LifecycleGauges attach(Metrics metrics, LongSupplier loadNanos, Label... labels) {
    var times = new LifecycleGauges();
    metrics.gauge(
        WorkerMetrics.MODEL_LOAD_TIME, () -> loadNanos.getAsLong() / NANOS_PER_SECOND, labels);
    metrics.gauge(WorkerMetrics.DRAIN_TIME, () -> times.drainNanos / NANOS_PER_SECOND, labels);
    metrics.gauge(WorkerMetrics.CLEANUP_TIME, () -> times.cleanupNanos / NANOS_PER_SECOND, labels);
    return times;
  }

  public void drained(long nanos) {
    drainNanos = nanos;
  }

  public void cleanedUp(long nanos) {
    cleanupNanos = nanos;
  }
}
