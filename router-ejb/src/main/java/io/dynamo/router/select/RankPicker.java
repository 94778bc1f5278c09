package io.dynamo.router.select;

import java.util.function.DoubleSupplier;

/**
 * Picks a candidate by cost. Temperature 0 takes the least cost; of those that tie, the least
 * loaded; of those, one at random. Above 0, a candidate is drawn with a probability that falls
 * exponentially with its cost's place between the least and the greatest, by the temperature.
 */
final class RankPicker {
  private final double temperature;
  private final DoubleSupplier random; // uniform in [0, 1); safe for concurrent use

  RankPicker(double temperature, DoubleSupplier random) {
    if (!(temperature >= 0)) {
      throw new IllegalArgumentException(
          "dynamo.router.temperature " + temperature + " is below 0");
    }
    this.temperature = temperature;
    this.random = random;
  }

  /**
   * @param costs at least one
   * @param loads breaks ties; lower is better
   */
  int pick(double[] costs, long[] loads) {
    return temperature == 0 ? least(costs, loads) : draw(costs);
  }

  private int least(double[] costs, long[] loads) {
    int best = 0;
    int ties = 1;
    for (int i = 1; i < costs.length; i++) {
      int order = Double.compare(costs[i], costs[best]);
      if (order == 0) {
        order = Long.compare(loads[i], loads[best]);
      }
      if (order < 0) {
        best = i;
        ties = 1;
      } else if (order == 0 && random.getAsDouble() * ++ties < 1) {
        best = i; // a reservoir of one: each of the ties is kept with the same probability
      }
    }
    return best;
  }

  private int draw(double[] costs) {
    double least = Double.POSITIVE_INFINITY;
    double greatest = Double.NEGATIVE_INFINITY;
    for (double cost : costs) {
      least = Math.min(least, cost);
      greatest = Math.max(greatest, cost);
    }
    double range = greatest - least;
    var cumulative = new double[costs.length];
    double sum = 0;
    for (int i = 0; i < costs.length; i++) {
      sum += range == 0 ? 1 : Math.exp(-((costs[i] - least) / range) / temperature);
      cumulative[i] = sum;
    }
    double at = random.getAsDouble() * sum;
    for (int i = 0; i < costs.length; i++) {
      if (at < cumulative[i]) {
        return i;
      }
    }
    return costs.length - 1; // at == sum by rounding
  }
}
