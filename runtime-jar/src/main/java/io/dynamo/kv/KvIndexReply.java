package io.dynamo.kv;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** The answer of a router's index to a {@link KvIndexQuery}. */
public sealed interface KvIndexReply {
  /**
   * The leading blocks of the prompt that a rank holds in one tier.
   *
   * @param blocks number of blocks; below the device only those beyond the tier above
   */
  record RankOverlap(WorkerRank rank, int blocks) {}

  /**
   * The number of leading blocks that each rank holds, by tier; ranks without blocks in a tier are
   * absent.
   *
   * @param below by tier, from host memory on
   */
  record Scores(List<RankOverlap> device, Map<StorageTier, List<RankOverlap>> below)
      implements KvIndexReply {
    public Scores {
      device = List.copyOf(device);
      var copy = new EnumMap<StorageTier, List<RankOverlap>>(StorageTier.class);
      below.forEach((tier, held) -> copy.put(tier, List.copyOf(held)));
      below = Map.copyOf(copy);
    }
  }

  /** The router cannot answer the query. */
  record Refused(String message) implements KvIndexReply {}
}
