package io.dynamo.kv;

import io.dynamo.token.BlockHash;
import io.dynamo.token.SequenceHash;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The blocks of one rank in a tier below the device. Their predecessors may be missing, as those
 * may be in another tier; a removal removes the named block alone. Used by one thread at a time.
 */
final class LooseBlocks {
  /**
   * A block's place in its sequence.
   *
   * @param parent the block before it; null for the first
   */
  private record Link(@Nullable SequenceHash parent, BlockHash content) {}

  private final Map<SequenceHash, Link> links = new LinkedHashMap<>();

  int size() {
    return links.size();
  }

  void apply(KvEvent event) {
    switch (event) {
      case KvEvent.Stored stored -> {
        var parent = stored.parent();
        for (var block : stored.blocks()) {
          links.put(block.hash(), new Link(parent, block.content()));
          parent = block.hash();
        }
      }
      case KvEvent.Removed removed -> removed.blocks().forEach(links::remove);
      case KvEvent.Cleared _ -> links.clear();
    }
  }

  /** Adds all blocks to {@code events}; blocks that were stored in a row are one event. */
  void dump(WorkerRank rank, StorageTier tier, List<RankEvent> events) {
    SequenceHash parent = null;
    var run = new ArrayList<StoredBlock>();
    for (var entry : links.entrySet()) {
      var link = entry.getValue();
      if (!run.isEmpty() && !run.getLast().hash().equals(link.parent())) {
        add(rank, tier, parent, run, events);
        run.clear();
      }
      if (run.isEmpty()) {
        parent = link.parent();
      }
      run.add(new StoredBlock(entry.getKey(), link.content()));
    }
    if (!run.isEmpty()) {
      add(rank, tier, parent, run, events);
    }
  }

  private static void add(
      WorkerRank rank,
      StorageTier tier,
      @Nullable SequenceHash parent,
      List<StoredBlock> run,
      List<RankEvent> events) {
    events.add(RankEvent.of(rank, tier, new KvEvent.Stored(events.size(), parent, run)));
  }
}
