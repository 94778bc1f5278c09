package io.dynamo.worker.engine;

import io.dynamo.kv.StorageTier;
import io.dynamo.kv.StoredBlock;
import io.dynamo.token.SequenceHash;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A {@link KvEventSink} that also receives changes of tiers below the device. The order of a rank's
 * changes is that of all tiers; {@link KvEventSink#cleared} clears all. Never blocks the engine.
 */
public interface LowerTierSink {
  /**
   * Reports that blocks were added in a tier, each the child of the previous one.
   *
   * @param parent the block before the first, which may be in another tier; null at the start of a
   *     sequence
   */
  void stored(int rank, StorageTier tier, @Nullable SequenceHash parent, List<StoredBlock> blocks);

  /** Reports that blocks were removed from a tier; other tiers may hold them still. */
  void removed(int rank, StorageTier tier, List<SequenceHash> blocks);
}
