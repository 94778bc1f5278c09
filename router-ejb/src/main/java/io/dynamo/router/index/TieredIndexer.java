package io.dynamo.router.index;

import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.KvEvent;
import io.dynamo.kv.StorageTier;
import io.dynamo.kv.WorkerRank;
import io.dynamo.token.BlockHashes;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * An exact index of all tiers. No reader takes a lock; the blocks that follow those on the device
 * in host memory, on disk and farther are looked up rank by rank, and only if there are any.
 */
public final class TieredIndexer implements KvIndexer, LowerTierIndexer {
  private final PrefixTableIndexer device = new PrefixTableIndexer();
  private final Object writer = new Object();
  // Changed under writer. A map of tiers is replaced as a whole.
  private final ConcurrentMap<WorkerRank, Map<StorageTier, TierBlocks>> below =
      new ConcurrentHashMap<>();

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
    if (below.isEmpty()) {
      return;
    }
    for (int i = 0; i < ranks.size(); i++) {
      var rank = ranks.get(i);
      var tiers = below.get(rank);
      if (tiers != null) {
        extend(request, rank, held.blocks(rank), tiers, i, host, disk);
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
    all.addAll(below.keySet());
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
    for (var tier : StorageTier.BELOW_DEVICE) {
      var blocks = tiers.get(tier);
      int before = depth;
      while (blocks != null && depth < request.length()) {
        long name = blocks.name(above, request.block(depth));
        if (name == TierBlocks.ABSENT) {
          break;
        }
        above = name;
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
      synchronized (writer) {
        below.remove(rank);
      }
    }
    return device.apply(rank, event);
  }

  @Override
  public void apply(WorkerRank rank, StorageTier tier, KvEvent event) {
    synchronized (writer) {
      var tiers = below.getOrDefault(rank, Map.of());
      var blocks = tiers.get(tier);
      if (event instanceof KvEvent.Cleared) {
        replace(rank, tiers, tier, null);
        return;
      }
      if (blocks == null) {
        if (!(event instanceof KvEvent.Stored)) {
          return;
        }
        device.keepNames(rank);
        blocks = new TierBlocks();
        blocks.apply(event);
        replace(rank, tiers, tier, blocks);
      } else {
        blocks.apply(event);
      }
      if (blocks.isEmpty()) {
        replace(rank, tiers, tier, null);
      }
    }
  }

  /** Sets or removes one of the tiers of a rank. */
  private void replace(
      WorkerRank rank,
      Map<StorageTier, TierBlocks> tiers,
      StorageTier tier,
      @Nullable TierBlocks blocks) {
    var replaced = new EnumMap<StorageTier, TierBlocks>(StorageTier.class);
    replaced.putAll(tiers);
    if (blocks == null) {
      replaced.remove(tier);
    } else {
      replaced.put(tier, blocks);
    }
    if (replaced.isEmpty()) {
      below.remove(rank);
    } else {
      below.put(rank, replaced);
    }
  }

  @Override
  public void forget(InstanceId worker) {
    synchronized (writer) {
      below.keySet().removeIf(rank -> rank.worker().equals(worker));
    }
    device.forget(worker);
  }

  /** Returns the number of distinct prefixes on devices; may lag. */
  public int size() {
    return device.size();
  }
}
