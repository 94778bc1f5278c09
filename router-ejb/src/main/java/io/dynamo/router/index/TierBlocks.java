package io.dynamo.router.index;

import io.dynamo.kv.KvEvent;
import io.dynamo.token.BlockHashes;
import io.dynamo.token.HashLongMap;

/**
 * The blocks of one rank in one tier, as a map from the engine's name of a block and the content of
 * its successor to the successor's name. Blocks need not be consecutive; a chain that lost its
 * middle is complete again when the middle is stored again. One thread at a time applies events;
 * any thread looks blocks up without a lock.
 */
final class TierBlocks {
  /** The parent name of first blocks; mixing with the content keeps its edges distinct. */
  static final long ROOT = 0x7b5a_e1c2_94d6_0f31L;

  /** The result of {@link #name} for a block that is not in this tier. */
  static final long ABSENT = SharedLongMap.ABSENT;

  private final SharedLongMap next = new SharedLongMap(); // parent's name and content -> name
  private final HashLongMap edges = new HashLongMap(); // name -> key in next; writer only

  void apply(KvEvent event) {
    switch (event) {
      case KvEvent.Stored stored -> {
        var parent = stored.parent();
        long above = parent == null ? ROOT : parent.value();
        for (var block : stored.blocks()) {
          long name = block.hash().value();
          long edge = BlockHashes.chain(above, block.content().value());
          drop(name);
          next.put(edge, name);
          edges.put(name, edge);
          above = name;
        }
      }
      case KvEvent.Removed removed -> removed.blocks().forEach(name -> drop(name.value()));
      case KvEvent.Cleared _ -> throw new IllegalArgumentException("a cleared tier is dropped");
    }
  }

  private void drop(long name) {
    if (edges.contains(name)) {
      long edge = edges.getOrDefault(name, 0);
      if (next.get(edge) == name) {
        next.remove(edge);
      }
      edges.remove(name);
    }
  }

  /**
   * Returns the name of the block of {@code content} after the block named {@code above}; {@link
   * #ABSENT} if it is not in this tier.
   */
  long name(long above, long content) {
    return next.get(BlockHashes.chain(above, content));
  }

  /** Whether no block is left. Writer only. */
  boolean isEmpty() {
    return edges.size() == 0;
  }
}
