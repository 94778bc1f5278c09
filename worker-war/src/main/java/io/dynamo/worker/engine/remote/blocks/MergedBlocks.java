package io.dynamo.worker.engine.remote.blocks;

import io.dynamo.kv.StorageTier;
import io.dynamo.token.BlockHash;
import io.dynamo.token.BlockHasher;
import io.dynamo.token.SequenceHash;
import io.dynamo.worker.engine.KvEventSink;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The blocks of one rank as several publishers report them: the engine itself, and a manager of
 * tiers below the device. Publishers name blocks as they like, so routers get the hash of a block's
 * sequence for a name, which is the same for all. A block is reported in a tier when the first
 * publisher stores it there, and as removed when the last copy of any has gone. What one publisher
 * clears or loses is removed unless another holds it.
 *
 * <p>A block on the device is reported only behind its predecessor, and removed together with it,
 * as routers would not find it otherwise; it is reported again together with it, too.
 *
 * <p>The translations are safe for concurrent use: they share a lock, which guards this object,
 * too.
 */
public final class MergedBlocks implements BlockOutlet {
  private final int rank;
  private final int blockTokens;
  private final int maxBlocks;
  private final Object lock = new Object();
  private final TierReport report;
  private final Map<SequenceHash, MergedBlock> blocks = new HashMap<>(); // by the name for routers
  private final Map<SequenceHash, Set<MergedBlock>> cutOff =
      new HashMap<>(); // on the device, but for their predecessor, by its name
  private final List<EngineBlocks> sources = new ArrayList<>();
  private final Queue<KnownBlock> described = new ArrayDeque<>(); // that others may wait for

  /**
   * @param maxBlocks the most blocks of one publisher
   */
  MergedBlocks(int rank, int blockTokens, int maxBlocks, KvEventSink sink) {
    this.rank = rank;
    this.blockTokens = blockTokens;
    this.maxBlocks = maxBlocks;
    this.report = new TierReport(rank, sink);
  }

  /**
   * Creates the blocks of a rank.
   *
   * @param blockTokens the block size of the worker's model card
   * @param deviceBlocks how many blocks the rank holds on its device
   * @param sink receives blocks below the device if it is a {@link
   *     io.dynamo.worker.engine.LowerTierSink}, too
   */
  public static MergedBlocks of(int rank, int blockTokens, int deviceBlocks, KvEventSink sink) {
    return new MergedBlocks(rank, blockTokens, EngineBlocks.limit(deviceBlocks), sink);
  }

  /** Adds the engine; returns the translation of its events, which count the copies of a block. */
  public EngineBlocks newEngine() {
    return newSource(true);
  }

  /** Adds a manager; returns the translation of its events, which may repeat themselves. */
  public EngineBlocks newManager() {
    return newSource(false);
  }

  private EngineBlocks newSource(boolean counted) {
    synchronized (lock) {
      var source = new EngineBlocks(rank, blockTokens, maxBlocks, counted, this, lock);
      sources.add(source);
      return source;
    }
  }

  /** Returns the number of blocks that any publisher holds. */
  int size() {
    return blocks.size();
  }

  @Override
  public boolean takes(StorageTier tier) {
    return report.takes(tier);
  }

  @Override
  public SequenceHash name(SequenceHash name, @Nullable SequenceHash parent, BlockHash content) {
    return parent == null
        ? new SequenceHash(content.value())
        : new SequenceHash(BlockHasher.chain(parent.value(), content.value()));
  }

  @Override
  public @Nullable SequenceHash undescribed(SequenceHash name) {
    return null;
  }

  @Override
  public @Nullable KnownBlock twin(EngineBlocks asking, SequenceHash name) {
    for (var source : sources) {
      var block = source == asking ? null : source.describedBlock(name);
      if (block != null) {
        return block;
      }
    }
    return null;
  }

  @Override
  public void described(KnownBlock block) {
    described.add(block);
  }

  /** {@inheritDoc} Refused is a block of the same name that is another one. */
  @Override
  public boolean store(StorageTier tier, BlockDescription stored) {
    var block = blocks.get(stored.name());
    if (block == null) {
      block = new MergedBlock(stored);
      blocks.put(stored.name(), block);
    } else if (!block.matches(stored)) {
      return false;
    }
    boolean first = block.copies.add(tier);
    if (tier != StorageTier.DEVICE) {
      if (first) {
        report.add(tier, block.description);
      }
    } else if (!block.isReachable()) {
      reach(block);
    }
    return true;
  }

  /** Reports a block as on the device, and those behind it, unless its predecessor is not there. */
  private void reach(MergedBlock block) {
    var parent = block.description.parent();
    var behind = parent == null ? null : blocks.get(parent);
    if (parent != null && (behind == null || !behind.isReachable())) {
      cutOff.computeIfAbsent(parent, _ -> new LinkedHashSet<>()).add(block);
      return;
    }
    leaveCutOff(block);
    block.link(behind);
    var linked = new ArrayDeque<MergedBlock>();
    for (var last = block; last != null; last = linked.poll()) {
      report.add(StorageTier.DEVICE, last.description);
      var children = cutOff.remove(last.description.name());
      if (children != null) {
        for (var child : children) {
          child.link(last);
          linked.push(child);
        }
      }
    }
  }

  private void leaveCutOff(MergedBlock block) {
    var parent = block.description.parent();
    if (parent != null) {
      cutOff.computeIfPresent(
          parent,
          (_, siblings) -> {
            siblings.remove(block);
            return siblings.isEmpty() ? null : siblings;
          });
    }
  }

  @Override
  public void remove(StorageTier tier, List<SequenceHash> names) {
    report.flush();
    var removed = new ArrayList<SequenceHash>(names.size());
    names.forEach(name -> removeCopy(tier, name, removed));
    report.remove(tier, removed);
  }

  private void removeCopy(StorageTier tier, SequenceHash name, List<SequenceHash> removed) {
    var block = blocks.get(name);
    if (block == null || !block.copies.remove(tier) || block.copies.isIn(tier)) {
      return;
    }
    if (tier == StorageTier.DEVICE) {
      cut(block, removed);
    } else {
      removed.add(name);
    }
    if (block.copies.isEmpty()) {
      blocks.remove(name);
    }
  }

  private void cut(MergedBlock block, List<SequenceHash> removed) {
    if (!block.isReachable()) {
      leaveCutOff(block);
      return;
    }
    int before = removed.size();
    block.cut(removed);
    for (var name : removed.subList(before, removed.size() - 1)) { // it is the last
      var behind = blocks.get(name);
      if (behind != null) {
        reach(behind);
      }
    }
  }

  @Override
  public boolean clear(Collection<KnownBlock> known) {
    report.flush();
    var removed = new EnumMap<StorageTier, List<SequenceHash>>(StorageTier.class);
    boolean held = false;
    for (var block : known) {
      var description = block.description();
      if (description != null) {
        held = true;
        block.copies.forEach(
            (tier, copies) -> {
              var names = removed.computeIfAbsent(tier, _ -> new ArrayList<>());
              for (int i = 0; i < copies; i++) {
                removeCopy(tier, description.name(), names);
              }
            });
      }
    }
    if (blocks.isEmpty()) {
      if (held) {
        report.clear();
      }
    } else {
      removed.forEach(report::remove);
    }
    return held;
  }

  @Override
  public void flush() {
    for (var block = described.poll(); block != null; block = described.poll()) {
      for (var source : sources) {
        source.learn(block);
      }
    }
    report.flush();
  }
}
