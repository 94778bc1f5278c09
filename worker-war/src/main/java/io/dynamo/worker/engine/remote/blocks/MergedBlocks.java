package io.dynamo.worker.engine.remote.blocks;

import io.dynamo.kv.StorageTier;
import io.dynamo.token.BlockHash;
import io.dynamo.token.BlockHasher;
import io.dynamo.token.SequenceHash;
import io.dynamo.worker.engine.KvEventSink;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The blocks of one rank as several publishers report them: the engine itself, and a manager of
 * tiers below the device. Publishers name blocks as they like, so routers get the hash of a block's
 * sequence for a name, which is the same for all. A block is reported in a tier when the first
 * publisher stores it there, and as removed when the last copy of any has gone. What one publisher
 * clears or loses is removed unless another holds it.
 *
 * <p>A block on the device is reported only behind its predecessor, and removed together with it,
 * as routers would not find it otherwise; it is reported again once a publisher stores it again.
 *
 * <p>The translations of {@link #newSource} are safe for concurrent use: they share a lock, which
 * guards this object, too.
 */
public final class MergedBlocks implements BlockOutlet {
  private final int rank;
  private final int blockTokens;
  private final int maxBlocks;
  private final Object lock = new Object();
  private final TierReport report;
  private final Map<SequenceHash, MergedBlock> blocks = new HashMap<>(); // by the name for routers
  private final List<EngineBlocks> sources = new ArrayList<>();

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

  /** Adds a publisher; returns the translation of its events. */
  public EngineBlocks newSource() {
    synchronized (lock) {
      var source = new EngineBlocks(rank, blockTokens, maxBlocks, this, lock);
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
  public void described(EngineBlocks by, KnownBlock block) {
    for (var source : sources) {
      if (source != by) {
        source.learn(block);
      }
    }
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

  /** Reports a block as on the device, unless its predecessor is not there. */
  private void reach(MergedBlock block) {
    var parent = block.description.parent();
    var behind = parent == null ? null : blocks.get(parent);
    if (parent == null || (behind != null && behind.isReachable())) {
      block.link(behind);
      report.add(StorageTier.DEVICE, block.description);
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
      block.cut(removed);
    } else {
      removed.add(name);
    }
    if (block.copies.isEmpty()) {
      blocks.remove(name);
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
    report.flush();
  }
}
