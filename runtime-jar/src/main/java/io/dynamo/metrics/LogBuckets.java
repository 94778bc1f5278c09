package io.dynamo.metrics;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;

/**
 * Computes bounds spaced evenly on a logarithmic scale, rounded to two significant digits, the
 * first one 0: Dynamo's buckets for values that vary over several orders of magnitude.
 */
public final class LogBuckets {
  private static final MathContext TWO_DIGITS = new MathContext(2, RoundingMode.HALF_UP);

  private LogBuckets() {}

  /**
   * Returns the bounds; those that round to the same number are one.
   *
   * @param least start of the scale, above 0; itself not a bound
   * @param most the last bound, above {@code least}
   * @param count number of bounds, at least 2
   */
  public static List<Double> of(double least, double most, int count) {
    if (!(least > 0 && most > least && count >= 2)) {
      throw new IllegalArgumentException(
          "%d buckets from %s to %s cannot be laid out".formatted(count, least, most));
    }
    var bounds = new ArrayList<Double>();
    bounds.add(0.0);
    double step = (Math.log(most) - Math.log(least)) / (count - 1);
    for (int i = 1; i < count; i++) {
      double bound = rounded(i == count - 1 ? most : Math.exp(Math.log(least) + i * step));
      if (bound > bounds.getLast()) {
        bounds.add(bound);
      }
    }
    return List.copyOf(bounds);
  }

  private static double rounded(double bound) {
    return BigDecimal.valueOf(bound).round(TWO_DIGITS).doubleValue();
  }
}
