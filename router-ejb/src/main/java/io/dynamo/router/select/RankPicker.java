package io.dynamo.router.select;

import io.dynamo.router.load.RankLoads;
import java.util.function.DoubleSupplier;
import java.util.function.IntPredicate;

/**
 * Picks a candidate by cost. Temperature 0 takes the least cost; of those that tie, the one with
 * the fewest requests if load breaks ties; of those, one at random. Above 0, a candidate is drawn
 * with a probability that falls exponentially with its cost's place between the least and the
 * greatest, by the temperature.
 */
final class RankPicker {
  private final double temperature;
  private final boolean loadBreaksTies;
  private final DoubleSupplier random; // uniform in [0, 1); safe for concurrent use

  RankPicker(double temperature, boolean loadBreaksTies, DoubleSupplier random) {
    if (!(temperature >= 0)) {
      throw new IllegalArgumentException(
          "dynamo.router.temperature " + temperature + " is below 0");
    }
    this.temperature = temperature;
    this.loadBreaksTies = loadBreaksTies;
    this.random = random;
  }

  /**
   * Picks a candidate by cost.
   *
   * @param terms of at least one candidate
   */
  RankSelector.Selection pick(CostModel.Terms terms, RankLoads loads) {
    if (terms.cost().length == 1) {
      return new RankSelector.Selection(0, SelectionReason.ONLY_CANDIDATE, terms);
    }
    return temperature == 0
        ? least(terms, loads.requests())
        : new RankSelector.Selection(draw(terms.cost()), SelectionReason.DRAWN, terms);
  }

  private RankSelector.Selection least(CostModel.Terms terms, int[] requests) {
    var costs = terms.cost();
    int best = 0;
    int sameCost = 1;
    int ties = 1;
    for (int i = 1; i < costs.length; i++) {
      int order = Double.compare(costs[i], costs[best]);
      sameCost = order < 0 ? 1 : order == 0 ? sameCost + 1 : sameCost;
      if (order == 0 && loadBreaksTies) {
        order = Integer.compare(requests[i], requests[best]);
      }
      if (order < 0) {
        best = i;
        ties = 1;
      } else if (order == 0 && random.getAsDouble() * ++ties < 1) {
        best = i; // a reservoir of one: each of the ties is kept with the same probability
      }
    }
    var reason =
        ties > 1
            ? SelectionReason.TIE_RANDOM
            : sameCost > 1 ? SelectionReason.TIE_FEWEST_REQUESTS : SelectionReason.LEAST_COST;
    return new RankSelector.Selection(best, reason, terms);
  }

  /**
   * Returns the candidate with the fewest requests among those for whom {@code eligible}; ties are
   * broken at random.
   */
  int fewest(int[] requests, IntPredicate eligible) {
    int best = -1;
    int ties = 1;
    for (int i = 0; i < requests.length; i++) {
      if (!eligible.test(i)) {
        continue;
      }
      if (best < 0 || requests[i] < requests[best]) {
        best = i;
        ties = 1;
      } else if (requests[i] == requests[best] && random.getAsDouble() * ++ties < 1) {
        best = i;
      }
    }
    return best;
  }

  private int draw(double[] costs) {
    double least = Double.POSITIVE_INFINITY;
    double greatest = Double.NEGATIVE_INFINITY;
    for (double cost : costs) {
      least = Math.min(least, cost / 4); // so that the range cannot overflow
      greatest = Math.max(greatest, cost / 4);
    }
    double range = greatest - least;
    var cumulative = new double[costs.length];
    double sum = 0;
    for (int i = 0; i < costs.length; i++) {
      sum += range == 0 ? 1 : Math.exp(-((costs[i] / 4 - least) / range) / temperature);
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
