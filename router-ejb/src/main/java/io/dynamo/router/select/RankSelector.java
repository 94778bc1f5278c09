package io.dynamo.router.select;

import io.dynamo.router.load.ActiveSequences;
import io.dynamo.router.load.RankLoads;
import java.util.function.DoubleSupplier;

/** Chooses by overlap and load. Safe for concurrent use; keeps no state of its own. */
public final class RankSelector {
  private final CostModel costs;
  private final RankPicker picker;

  /**
   * @param temperature 0 takes the cheapest; above, candidates are drawn by cost
   * @param random uniform in [0, 1); safe for concurrent use
   */
  public RankSelector(CostModel costs, double temperature, DoubleSupplier random) {
    this.costs = costs;
    this.picker = new RankPicker(temperature, random);
  }

  /**
   * Chooses one of the candidates.
   *
   * @param overlapBlocks leading blocks that each candidate holds, in the order of {@code loads}
   */
  public ActiveSequences.Choice choose(
      CostModel.Prompt prompt, int[] overlapBlocks, RankLoads loads) {
    int n = loads.size();
    var costOf = new double[n];
    var loadOf = new long[n];
    for (int i = 0; i < n; i++) {
      int decodeBlocks = loads.blocks()[i] + loads.addedBlocks()[i];
      costOf[i] = costs.cost(prompt, overlapBlocks[i], loads.prefillTokens()[i], decodeBlocks);
      loadOf[i] = loads.requests()[i];
    }
    int chosen = picker.pick(costOf, loadOf);
    return new ActiveSequences.Choice(
        chosen, CostModel.tokensToPrefill(prompt, overlapBlocks[chosen]));
  }
}
