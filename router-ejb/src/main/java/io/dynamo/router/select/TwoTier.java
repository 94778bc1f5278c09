package io.dynamo.router.select;

import io.dynamo.router.load.RankLoads;
import java.util.Arrays;

/**
 * Dynamo's {@code dynamo-two-tier-cost-fn}: balances when requests pile up; otherwise chooses the
 * most cached rank when enough of the prompt is cached; otherwise the rank with the fewest
 * requests.
 */
final class TwoTier {
  static final double CACHE_THRESHOLD = 0.5;
  static final int BALANCE_SPREAD = 32;
  static final double BALANCE_RATIO = 1.1;

  private TwoTier() {}

  static RankSelector.Selection choose(
      CostModel.Prompt prompt,
      CostModel.Overlaps overlaps,
      RankLoads loads,
      CostModel.Terms terms,
      RankPicker picker) {
    int most = Arrays.stream(loads.requests()).max().orElse(0);
    int fewest = Arrays.stream(loads.requests()).min().orElse(0);
    if (most - fewest > BALANCE_SPREAD && most > BALANCE_RATIO * fewest) {
      return new RankSelector.Selection(
          picker.fewest(loads.requests(), _ -> true), SelectionReason.BALANCED, terms);
    }
    int cached = Arrays.stream(overlaps.device()).max().orElse(0);
    double promptBlocks = Math.max(1, Math.ceilDiv(prompt.tokens(), prompt.blockTokens()));
    if (cached / promptBlocks > CACHE_THRESHOLD) {
      return new RankSelector.Selection(
          picker.fewest(loads.requests(), i -> overlaps.device()[i] == cached),
          SelectionReason.MOST_CACHED,
          terms);
    }
    return new RankSelector.Selection(
        picker.fewest(loads.requests(), _ -> true), SelectionReason.LEAST_LOADED, terms);
  }
}
