package io.dynamo.kv;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * The cached blocks of one rank in all tiers, in the state that a router has after every event.
 * Used by one thread at a time.
 */
public final class HeldTiers {
  private final HeldBlocks device = new HeldBlocks();
  private final Map<StorageTier, LooseBlocks> below = new EnumMap<>(StorageTier.class);

  /**
   * Applies an event of a tier. A clear of the device removes the blocks of all tiers, one of
   * another tier those of that tier.
   */
  public void apply(StorageTier tier, KvEvent event) {
    if (tier == StorageTier.DEVICE) {
      if (event instanceof KvEvent.Cleared) {
        below.clear();
      }
      device.apply(event);
    } else if (event instanceof KvEvent.Stored || below.containsKey(tier)) {
      var blocks = below.computeIfAbsent(tier, _ -> new LooseBlocks());
      blocks.apply(event);
      if (blocks.size() == 0) {
        below.remove(tier);
      }
    }
  }

  /** Returns the number of blocks on the device. */
  public int onDevice() {
    return device.size();
  }

  /** Returns all blocks as stored events, those of the device first. Their ids count from 0. */
  public List<RankEvent> dump(WorkerRank rank) {
    return dump(rank, Integer.MAX_VALUE);
  }

  /**
   * Returns all blocks as stored events, those of the device first. A tier below the device whose
   * blocks would be too many is left out, as are those behind it: without them a prompt is computed
   * again, and never answered wrongly.
   *
   * @param maxBlocks the most blocks of all events; no fewer than those on the device
   */
  public List<RankEvent> dump(WorkerRank rank, int maxBlocks) {
    var events = new ArrayList<>(device.dump(rank));
    long blocks = device.size();
    for (var tier : StorageTier.BELOW_DEVICE) {
      var held = below.get(tier);
      if (held != null) {
        blocks += held.size();
        if (blocks > maxBlocks) {
          break;
        }
        held.dump(rank, tier, events);
      }
    }
    return events;
  }
}
