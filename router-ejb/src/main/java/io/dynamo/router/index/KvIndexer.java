package io.dynamo.router.index;

import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.KvEvent;
import io.dynamo.kv.WorkerRank;
import io.dynamo.token.BlockHashes;

/**
 * Knows which worker ranks hold which prefix of KV blocks. What a rank holds is closed under
 * prefixes: a block whose predecessor is gone is of no use and counts as gone too, until it is
 * stored again. Safe for concurrent use.
 */
public interface KvIndexer {
  /**
   * The result of applying an event. Anything but {@link #OK} means that the index knew less or
   * more.
   */
  enum Outcome {
    OK,
    /** The rank does not hold the block that the stored ones follow; nothing was stored. */
    PARENT_NOT_FOUND,
    /** The rank does not hold some of the blocks to remove; the others were removed. */
    BLOCK_NOT_FOUND,
    /** Two prefixes have one 64-bit hash; the blocks from there on were not stored. */
    HASH_COLLISION
  }

  /**
   * Counts the leading blocks of {@code request} each rank holds; ranks with none are absent. May
   * lag {@link #apply} by events in flight: a stale count costs a repeated prefill, never a wrong
   * token. Takes no lock.
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
