package io.dynamo.worker.engine.remote.blocks;

import io.dynamo.token.SequenceHash;
import java.lang.System.Logger.Level;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The blocks that one publisher holds, by its names, within a bound. Used by one thread at a time.
 */
final class KnownBlocks {
  private static final System.Logger LOG = System.getLogger(KnownBlocks.class.getName());

  private final int rank;
  private final int most;
  private Map<Long, KnownBlock> byName = new HashMap<>();
  private boolean warned;

  KnownBlocks(int rank, int most) {
    this.rank = rank;
    this.most = most;
  }

  /** Returns the block of a name; null when it is not known. */
  @Nullable KnownBlock get(long name) {
    return byName.get(name);
  }

  /** Returns the block of a name, known from now on; null when there are too many. */
  @Nullable KnownBlock getOrAdd(long name) {
    var block = byName.get(name);
    if (block != null) {
      return block;
    }
    if (byName.size() >= most) {
      if (!warned) {
        warned = true;
        LOG.log(
            Level.WARNING,
            "rank {0} of the engine reports more than {1} blocks: further ones are not routed to",
            rank,
            most);
      }
      return null;
    }
    var added = new KnownBlock(new SequenceHash(name));
    byName.put(name, added);
    return added;
  }

  /** Forgets a block that no tier holds. */
  void removeIfGone(KnownBlock block) {
    if (block.isGone()) {
      byName.remove(block.name.value());
    }
  }

  Collection<KnownBlock> all() {
    return byName.values();
  }

  void clear() {
    byName = new HashMap<>(); // clearing a large one takes time whenever it is done
  }
}
