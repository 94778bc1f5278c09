package io.dynamo.worker.engine.remote.blocks;

import io.dynamo.kv.StorageTier;
import io.dynamo.kv.StoredBlock;
import io.dynamo.token.SequenceHash;
import io.dynamo.worker.engine.KvEventSink;
import io.dynamo.worker.engine.LowerTierSink;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reports changes of one rank's tiers to a sink. Blocks of a tier that are added one behind the
 * other are one report, within a bound, so that whoever keeps reports or sends them knows their
 * size. Used by one thread at a time.
 */
final class TierReport {
  /** The most blocks of one report. */
  static final int MAX_BLOCKS = 1024;

  private final int rank;
  private final KvEventSink sink;
  private final @Nullable LowerTierSink below; // null where nobody reads tiers below the device
  private List<StoredBlock> run = new ArrayList<>();
  private StorageTier tier = StorageTier.DEVICE; // of run
  private @Nullable SequenceHash parent; // of run

  TierReport(int rank, KvEventSink sink) {
    this.rank = rank;
    this.sink = sink;
    this.below = sink instanceof LowerTierSink tiers ? tiers : null;
  }

  boolean takes(StorageTier of) {
    return of == StorageTier.DEVICE || below != null;
  }

  void add(StorageTier to, BlockDescription block) {
    if (run.size() == MAX_BLOCKS
        || (!run.isEmpty() && (to != tier || !run.getLast().hash().equals(block.parent())))) {
      flush();
    }
    if (run.isEmpty()) {
      tier = to;
      parent = block.parent();
    }
    run.add(block.stored());
  }

  void flush() {
    if (run.isEmpty()) {
      return;
    }
    var blocks = run;
    run = new ArrayList<>();
    if (tier == StorageTier.DEVICE) {
      sink.stored(rank, parent, blocks);
    } else if (below != null) {
      below.stored(rank, tier, parent, blocks);
    }
  }

  void remove(StorageTier from, List<SequenceHash> names) {
    flush();
    for (int begin = 0; begin < names.size(); begin += MAX_BLOCKS) {
      int end = Math.min(names.size(), begin + MAX_BLOCKS);
      var some = List.copyOf(names.subList(begin, end));
      if (from == StorageTier.DEVICE) {
        sink.removed(rank, some);
      } else if (below != null) {
        below.removed(rank, from, some);
      }
    }
  }

  void clear() {
    run.clear();
    sink.cleared(rank);
  }
}
