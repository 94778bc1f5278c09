package io.dynamo.router.select;

import io.dynamo.config.router.RouterSettings;
import io.dynamo.router.load.RankLoads;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/** Chooses a rank by overlap and load. Safe for concurrent use; keeps no state of its own. */
public final class RankSelector {
  private final CostModel costs;
  private final RankPicker picker;
  private final boolean twoTier;

  /**
   * Creates a selector.
   *
   * @param sharedWeight weight of a block in a cache that all workers share
   * @param random uniform in [0, 1); safe for concurrent use
   */
  public RankSelector(RouterSettings.Costs weights, double sharedWeight, DoubleSupplier random) {
    this.costs = new CostModel(weights, sharedWeight);
    this.picker =
        new RankPicker(
            weights.temperature(), weights.tieBreak() == RouterSettings.TieBreak.LOAD, random);
    this.twoTier = weights.policy() == RouterSettings.Policy.TWO_TIER;
  }

  public CostModel costs() {
    return costs;
  }

  /**
   * Chooses one of the candidates.
   *
   * @param factors the factor of each cost for the taints that a client prefers; null is 1
   */
  public Selection choose(
      CostModel.Prompt prompt,
      CostModel.Overlaps overlaps,
      RankLoads loads,
      double @Nullable [] factors) {
    var terms = costs.weigh(prompt, overlaps, loads);
    if (factors != null) {
      for (int i = 0; i < factors.length; i++) {
        terms.cost()[i] *= factors[i];
      }
    }
    return twoTier
        ? TwoTier.choose(prompt, overlaps, loads, terms, picker)
        : picker.pick(terms, loads);
  }

  /**
   * The chosen candidate and the reason.
   *
   * @param candidate its index
   */
  public record Selection(int candidate, SelectionReason reason, CostModel.Terms terms) {}
}
