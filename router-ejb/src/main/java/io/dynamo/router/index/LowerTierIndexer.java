package io.dynamo.router.index;

import io.dynamo.kv.KvEvent;
import io.dynamo.kv.StorageTier;
import io.dynamo.kv.WorkerRank;

/** An index that also records blocks in tiers below the device. Safe for concurrent use. */
public interface LowerTierIndexer {
  /**
   * Applies an event of a tier below the device. Never fails: a block may be reported before its
   * parent.
   */
  void apply(WorkerRank rank, StorageTier tier, KvEvent event);
}
