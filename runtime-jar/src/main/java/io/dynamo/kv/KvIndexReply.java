package io.dynamo.kv;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** What a router's index answers. */
public sealed interface KvIndexReply {
  /**
   * Leading blocks of the prompt that a rank holds in one tier.
   *
   * @param blocks below the device those beyond the tier above
   */
  record Held(WorkerRank rank, int blocks) {}

  /**
   * Who holds what; ranks that hold nothing in a tier are absent.
   *
   * @param below by tier, from host memory on
   */
  record Scores(List<Held> device, Map<StorageTier, List<Held>> below) implements KvIndexReply {
    public Scores {
      device = List.copyOf(device);
      var copy = new EnumMap<StorageTier, List<Held>>(StorageTier.class);
      below.forEach((tier, held) -> copy.put(tier, List.copyOf(held)));
      below = Map.copyOf(copy);
    }
  }

  /** It cannot tell. */
  record Refused(String message) implements KvIndexReply {}
}
