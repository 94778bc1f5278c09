package io.dynamo.metrics;

import java.math.BigDecimal;
import java.util.List;
import java.util.concurrent.atomic.DoubleAdder;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts values in buckets, in the unit of their metric's name. Recording takes no lock and
 * allocates nothing; safe for concurrent use. A read during recording may miss the newest values.
 */
public final class Histogram implements Metrics.Timer {
  private static final List<Double> STANDARD_BOUNDS =
      List.of(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0);
  private static final double NANOS_PER_SECOND = 1e9;

  private final double[] bounds;
  private final LongAdder[] counts; // per bucket, not cumulative: one adder per recording
  private final DoubleAdder sum = new DoubleAdder(); // tokens by the hour pass what nanos can hold

  /**
   * @param bounds upper bounds of the buckets, ascending; empty takes the standard ones
   */
  Histogram(List<Double> bounds) {
    var ends = bounds.isEmpty() ? STANDARD_BOUNDS : bounds;
    this.bounds = ends.stream().mapToDouble(Double::doubleValue).toArray();
    this.counts = new LongAdder[this.bounds.length + 1];
    for (int i = 0; i < counts.length; i++) {
      counts[i] = new LongAdder();
    }
  }

  @Override
  public void record(long nanos) {
    record(nanos / NANOS_PER_SECOND, 1);
  }

  @Override
  public void record(double value, int times) {
    int bucket = 0;
    while (bucket < bounds.length && value > bounds[bucket]) {
      bucket++;
    }
    counts[bucket].add(times);
    sum.add(value * times);
  }

  /** Returns the number of bounded buckets; one more, without a bound, follows them. */
  public int buckets() {
    return bounds.length;
  }

  /** Returns the upper bound of a bucket. */
  public double bound(int bucket) {
    return bounds[bucket];
  }

  /**
   * Returns a bound as written in an exposition: without an exponent, whole numbers without a
   * fraction.
   */
  public static String text(double bound) {
    return BigDecimal.valueOf(bound).stripTrailingZeros().toPlainString();
  }

  /**
   * Returns the number of values in {@code bucket} and those before it; at {@link #buckets()}, all.
   */
  public long upTo(int bucket) {
    long total = 0;
    for (int i = 0; i <= bucket; i++) {
      total += counts[i].sum();
    }
    return total;
  }

  public long count() {
    return upTo(bounds.length);
  }

  public double sum() {
    return sum.sum();
  }
}
