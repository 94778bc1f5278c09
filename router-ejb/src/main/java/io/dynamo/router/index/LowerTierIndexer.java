package io.dynamo.router.index;

import io.dynamo.kv.KvEvent;
import io.dynamo.kv.StorageTier;
import io.dynamo.kv.WorkerRank;

/** An index that also knows blocks in tiers below the device. Safe for concurrent use. */
public interface LowerTierIndexer {
  /**
   * Applies an event of a tier below the device. Nothing about it can be wrong: a block may be told
   * of before its parent.
   */
  void apply(WorkerRank rank, StorageTier tier, KvEvent event);
}
