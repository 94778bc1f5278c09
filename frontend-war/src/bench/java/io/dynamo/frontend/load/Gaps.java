package io.dynamo.frontend.load;

import java.util.concurrent.atomic.AtomicLongArray;

/** A histogram of durations, within 4 %. Safe for concurrent use. */
final class Gaps {
  private static final double STEP = Math.log(1.04);
  private static final int BUCKETS = 512; // up to 500 s in nanoseconds

  private final AtomicLongArray counts = new AtomicLongArray(BUCKETS);

  void record(long nanos) {
    int bucket = (int) (Math.log(Math.max(1, nanos / 1e3)) / STEP);
    counts.incrementAndGet(Math.min(BUCKETS - 1, bucket));
  }

  /** The duration that a share of {@code quantile} does not exceed; 0 when there is none. */
  double millis(double quantile) {
    long all = 0;
    for (int i = 0; i < BUCKETS; i++) {
      all += counts.get(i);
    }
    long left = (long) Math.ceil(all * quantile);
    for (int i = 0; i < BUCKETS && all > 0; i++) {
      left -= counts.get(i);
      if (left <= 0) {
        return Math.exp((i + 0.5) * STEP) / 1e3;
      }
    }
    return 0;
  }
}
