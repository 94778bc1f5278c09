package io.dynamo.router.index;

import io.dynamo.kv.KvEvent;
import io.dynamo.token.BlockHashes;
import io.dynamo.token.HashLongMap;

/**
 * The blocks of one rank in one tier, as a map from the engine's name of a block and the content of
 * its successor to the successor's name. Blocks need not be consecutive; a chain that lost its
 * middle is complete again when the middle is stored again. For one thread at a time.
 */
final class TierBlocks {
  /** The parent name of first blocks; mixing with the content keeps its edges distinct. */
  static final long ROOT = 0x7b5a_e1c2_94d6_0f31L;

  private final HashLongMap next = new HashLongMap(); // parent's name and content, mixed -> name
  private final HashLongMap edges = new HashLongMap(); // name -> key in next

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
      if (next.contains(edge) && next.getOrDefault(edge, 0) == name) {
        next.remove(edge);
      }
      edges.remove(name);
    }
  }

  /** Whether the block of {@code content} after the block named {@code above} is in this tier. */
  boolean holds(long above, long content) {
    return next.contains(BlockHashes.chain(above, content));
  }

  /** Returns the name of that block if it is in this tier; otherwise 0. */
  long name(long above, long content) {
    return next.getOrDefault(BlockHashes.chain(above, content), 0);
  }

  boolean isEmpty() {
    return edges.size() == 0;
  }
}
