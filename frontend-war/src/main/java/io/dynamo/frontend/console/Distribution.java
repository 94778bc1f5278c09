package io.dynamo.frontend.console;

import io.dynamo.metrics.Histogram;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The values that a histogram has counted up to one moment. Immutable: arrays are not changed after
 * creation.
 */
final class Distribution {
  static final Distribution EMPTY = new Distribution(new double[0], new long[1], 0);

  private final double[] bounds; // upper ones, ascending
  private final long[] upTo; // values in a bucket and those before it; the last has no bound
  private final double sum;

  private Distribution(double[] bounds, long[] upTo, double sum) {
    this.bounds = bounds;
    this.upTo = upTo;
    this.sum = sum;
  }

  /** Returns the present values of {@code histogram}. */
  static Distribution of(Histogram histogram) {
    var bounds = new double[histogram.buckets()];
    var upTo = new long[bounds.length + 1];
    for (int i = 0; i < bounds.length; i++) {
      bounds[i] = histogram.bound(i);
      upTo[i] = histogram.upTo(i);
    }
    upTo[bounds.length] = histogram.count();
    return new Distribution(bounds, upTo, histogram.sum());
  }

  /**
   * Returns both together.
   *
   * @throws IllegalArgumentException when their buckets differ
   */
  Distribution plus(Distribution other) {
    return other == EMPTY ? this : this == EMPTY ? other : combined(other, 1);
  }

  /**
   * Returns the values that were counted after {@code earlier}, a state of the same histograms.
   * Histograms that have come since count in full.
   */
  Distribution since(Distribution earlier) {
    return earlier == EMPTY ? this : combined(earlier, -1);
  }

  private Distribution combined(Distribution other, int sign) {
    if (!Arrays.equals(bounds, other.bounds)) {
      throw new IllegalArgumentException("the histograms have different buckets");
    }
    var counts = new long[upTo.length];
    for (int i = 0; i < counts.length; i++) {
      counts[i] = Math.max(0, upTo[i] + sign * other.upTo[i]);
    }
    return new Distribution(bounds, counts, sum + sign * other.sum);
  }

  long count() {
    return upTo[upTo.length - 1];
  }

  double sum() {
    return sum;
  }

  /**
   * Estimates the value below which a part of the values lies, on a straight line within its bucket
   * as Prometheus does. Values above the last bound count as that bound.
   *
   * @param part from 0 to 1
   * @return null without values
   */
  @Nullable Double quantile(double part) {
    long all = count();
    if (all == 0 || bounds.length == 0) {
      return null;
    }
    double rank = part * all;
    int bucket = 0;
    while (bucket < bounds.length && upTo[bucket] < rank) {
      bucket++;
    }
    if (bucket == bounds.length) {
      return bounds[bucket - 1];
    }
    double low = bucket == 0 ? Math.min(0, bounds[0]) : bounds[bucket - 1];
    long before = bucket == 0 ? 0 : upTo[bucket - 1];
    long within = upTo[bucket] - before;
    return within == 0 ? bounds[bucket] : low + (bounds[bucket] - low) * ((rank - before) / within);
  }
}
