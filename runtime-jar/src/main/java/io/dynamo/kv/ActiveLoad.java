package io.dynamo.kv;

import org.jspecify.annotations.Nullable;

/**
 * The load of one rank as a worker reports it; null where it reports none.
 *
 * @param activeDecodeBlocks KV blocks of generations that decode
 * @param activePrefillTokens prompt tokens being prefilled
 * @param kvUsedBlocks KV blocks that generations hold
 */
public record ActiveLoad(
    WorkerRank rank,
    @Nullable Long activeDecodeBlocks,
    @Nullable Long activePrefillTokens,
    @Nullable Long kvUsedBlocks) {
  /** The topic of load reports. */
  public static final String TOPIC = "kv_metrics";

  /** The report of workers of 1.6.1: blocks in use, and nothing else. */
  public static ActiveLoad ofUsedBlocks(WorkerRank rank, long blocks) {
    return new ActiveLoad(rank, null, null, blocks);
  }
}
