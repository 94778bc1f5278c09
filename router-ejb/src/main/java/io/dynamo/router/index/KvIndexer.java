package io.dynamo.router.index;

import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.KvEvent;
import io.dynamo.kv.WorkerRank;
import io.dynamo.token.BlockHashes;

/**
 * Records which worker ranks have cached which prefix of KV blocks. The blocks recorded for a rank
 * are closed under prefixes: a block whose predecessor is gone is of no use and counts as gone too,
 * until it is stored again. Safe for concurrent use.
 */
public interface KvIndexer {
  /**
   * The result of applying an event. Any result but {@link #OK} means that the index and the rank's
   * cache had differed.
   */
  enum Outcome {
    OK,
    /** The rank does not have the parent of the stored blocks; nothing was stored. */
    PARENT_NOT_FOUND,
    /** The rank does not have some of the blocks to remove; the others were removed. */
    BLOCK_NOT_FOUND,
    /** Two prefixes have the same 64-bit hash; the blocks from there on were not stored. */
    HASH_COLLISION
  }

  /**
   * Counts the leading blocks of {@code request} that each rank has; ranks with none are absent.
   * May lag {@link #apply} by events in flight: a stale count costs a repeated prefill, never a
   * wrong token. Takes no lock.
   */
  OverlapScores match(BlockHashes request);

  /**
   * Applies one event. Events of one rank must come in id order; ranks are independent of each
   * other.
   */
  Outcome apply(WorkerRank rank, KvEvent event);

  /** Forgets every block of {@code worker}, on all its ranks. Unknown workers are ignored. */
  void forget(InstanceId worker);
}
