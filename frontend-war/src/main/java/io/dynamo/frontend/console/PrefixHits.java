package io.dynamo.frontend.console;

import io.dynamo.kv.WorkerRank;
import io.dynamo.router.RouteExplanation;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The share of prompt blocks that each rank was believed to hold when requests were placed there.
 * Only decisions that looked at prefixes count. Immutable.
 */
final class PrefixHits {
  private static final String BY_PREFIX = "kv";

  private record Blocks(long cached, long all) {
    Blocks plus(Blocks other) {
      return new Blocks(cached + other.cached, all + other.all);
    }
  }

  private final Map<WorkerRank, Blocks> ranks;

  private PrefixHits(Map<WorkerRank, Blocks> ranks) {
    this.ranks = ranks;
  }

  /** Adds up {@code decisions} by the rank that each has chosen. */
  static PrefixHits of(List<RouteExplanation> decisions) {
    var ranks = new HashMap<WorkerRank, Blocks>();
    for (var decision : decisions) {
      var chosen = chosen(decision);
      if (decision.mode().equals(BY_PREFIX) && chosen != null && decision.blockTokens() > 0) {
        long all = decision.promptTokens() / decision.blockTokens();
        ranks.merge(
            decision.chosen(),
            new Blocks(Math.min(all, chosen.deviceOverlap()), all),
            Blocks::plus);
      }
    }
    return new PrefixHits(ranks);
  }

  /** Returns the candidate that a decision has chosen; null when it is not listed. */
  static RouteExplanation.@Nullable Candidate chosen(RouteExplanation decision) {
    for (var candidate : decision.candidates()) {
      if (candidate.rank().equals(decision.chosen())) {
        return candidate;
      }
    }
    return null;
  }

  /** Returns the share of cached blocks from 0 to 1; null when no complete block was placed. */
  @Nullable Double rate(WorkerRank rank) {
    var blocks = ranks.get(rank);
    return blocks == null || blocks.all == 0
        ? null
        : (Double) (blocks.cached / (double) blocks.all);
  }
}
