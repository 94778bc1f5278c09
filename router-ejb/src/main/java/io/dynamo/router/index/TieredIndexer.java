package io.dynamo.router.index;

import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.KvEvent;
import io.dynamo.kv.StorageTier;
import io.dynamo.kv.WorkerRank;
import io.dynamo.token.BlockHashes;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An exact index of all tiers. The device's tier is read without a lock; the blocks that follow in
 * host memory, on disk and farther are looked up rank by rank under one lock, and only if there are
 * any.
 */
public final class TieredIndexer implements KvIndexer, LowerTierIndexer {
  private static final List<StorageTier> BELOW =
      List.of(StorageTier.HOST_PINNED, StorageTier.DISK, StorageTier.EXTERNAL);

  private final PrefixTableIndexer device = new PrefixTableIndexer();
  // Guarded by itself.
  private final Map<WorkerRank, Map<StorageTier, TierBlocks>> below = new HashMap<>();
  private volatile boolean hasLower; // written under below

  @Override
  public OverlapScores match(BlockHashes request) {
    return device.match(request);
  }

  /**
   * Counts for each of {@code ranks} the blocks of {@code request} that follow those on its device:
   * first in host memory, then after them on disk, then after those in farther tiers. As on the
   * device, a block counts only if those before it do.
   *
   * @param held the result of {@link #match}
   * @param host receives the number of blocks in host memory, in the order of {@code ranks}
   * @param disk receives the number of blocks on disk and farther tiers
   */
  public void extend(
      BlockHashes request, OverlapScores held, List<WorkerRank> ranks, int[] host, int[] disk) {
    if (!hasLower) {
      return;
    }
    synchronized (below) {
      for (int i = 0; i < ranks.size(); i++) {
        var rank = ranks.get(i);
        var tiers = below.get(rank);
        if (tiers != null) {
          extend(request, rank, held.blocks(rank), tiers, i, host, disk);
        }
      }
    }
  }

  /**
   * Returns the ranks that may have a block of a prompt in any tier.
   *
   * @param held the result of {@link #match}
   */
  public List<WorkerRank> holders(OverlapScores held) {
    var all = new LinkedHashSet<WorkerRank>();
    held.forEach((rank, _) -> all.add(rank));
    if (hasLower) {
      synchronized (below) {
        all.addAll(below.keySet());
      }
    }
    return List.copyOf(all);
  }

  private void extend(
      BlockHashes request,
      WorkerRank rank,
      int onDevice,
      Map<StorageTier, TierBlocks> tiers,
      int i,
      int[] host,
      int[] disk) {
    int depth = onDevice;
    long above = TierBlocks.ROOT;
    if (depth > 0) {
      var name = device.name(rank, request.sequence(depth - 1));
      if (name == null) {
        return; // removed meanwhile
      }
      above = name;
    }
    for (var tier : BELOW) {
      var blocks = tiers.get(tier);
      int before = depth;
      while (blocks != null
          && depth < request.length()
          && blocks.holds(above, request.block(depth))) {
        above = blocks.name(above, request.block(depth));
        depth++;
      }
      if (tier == StorageTier.HOST_PINNED) {
        host[i] = depth - before;
      } else {
        disk[i] += depth - before;
      }
    }
  }

  @Override
  public Outcome apply(WorkerRank rank, KvEvent event) {
    if (event instanceof KvEvent.Cleared) {
      synchronized (below) {
        below.remove(rank);
        hasLower = !below.isEmpty();
      }
    }
    return device.apply(rank, event);
  }

  @Override
  public void apply(WorkerRank rank, StorageTier tier, KvEvent event) {
    if (event instanceof KvEvent.Stored && !holdsBelow(rank)) {
      device.keepNames(rank); // here, not on the thread of a request
    }
    synchronized (below) {
      if (event instanceof KvEvent.Cleared) {
        drop(rank, tier);
      } else {
        var blocks =
            below
                .computeIfAbsent(rank, _ -> new EnumMap<>(StorageTier.class))
                .computeIfAbsent(tier, _ -> new TierBlocks());
        blocks.apply(event);
        if (blocks.isEmpty()) {
          drop(rank, tier);
        }
      }
      hasLower = !below.isEmpty();
    }
  }

  private boolean holdsBelow(WorkerRank rank) {
    synchronized (below) {
      return below.containsKey(rank);
    }
  }

  private void drop(WorkerRank rank, StorageTier tier) {
    @Nullable Map<StorageTier, TierBlocks> tiers = below.get(rank);
    if (tiers != null) {
      tiers.remove(tier);
      if (tiers.isEmpty()) {
        below.remove(rank);
      }
    }
  }

  @Override
  public void forget(InstanceId worker) {
    synchronized (below) {
      below.keySet().removeIf(rank -> rank.worker().equals(worker));
      hasLower = !below.isEmpty();
    }
    device.forget(worker);
  }

  /** Returns the number of distinct prefixes on devices; may lag. */
  public int size() {
    return device.size();
  }
}
