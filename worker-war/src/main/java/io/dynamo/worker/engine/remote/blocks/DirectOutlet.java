package io.dynamo.worker.engine.remote.blocks;

import io.dynamo.kv.StorageTier;
import io.dynamo.token.BlockHash;
import io.dynamo.token.SequenceHash;
import io.dynamo.worker.engine.KvEventSink;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reports the blocks of a rank's only publisher, under the publisher's own names. */
final class DirectOutlet implements BlockOutlet {
  private final TierReport report;
  private boolean holdsBlocks;

  DirectOutlet(int rank, KvEventSink sink) {
    this.report = new TierReport(rank, sink);
  }

  @Override
  public boolean takes(StorageTier tier) {
    return report.takes(tier);
  }

  @Override
  public SequenceHash name(SequenceHash name, @Nullable SequenceHash parent, BlockHash content) {
    return name;
  }

  @Override
  public SequenceHash undescribed(SequenceHash name) {
    return name;
  }

  @Override
  public @Nullable KnownBlock twin(EngineBlocks asking, SequenceHash name) {
    return null;
  }

  @Override
  public void described(KnownBlock block) {}

  @Override
  public boolean store(StorageTier tier, BlockDescription block) {
    holdsBlocks = true;
    report.add(tier, block);
    return true;
  }

  @Override
  public void remove(StorageTier tier, List<SequenceHash> names) {
    report.remove(tier, names);
  }

  @Override
  public boolean clear(Collection<KnownBlock> known) {
    boolean held = holdsBlocks;
    if (held) {
      holdsBlocks = false;
      report.clear();
    }
    return held;
  }

  @Override
  public void flush() {
    report.flush();
  }
}
