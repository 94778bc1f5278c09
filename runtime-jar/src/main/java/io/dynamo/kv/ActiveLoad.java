package io.dynamo.kv;

import org.jspecify.annotations.Nullable;

/**
 * The load of one rank as a worker reports it; a null figure is not reported.
 *
 * @param activeDecodeBlocks KV blocks of decoding generations
 * @param activePrefillTokens prompt tokens being prefilled
 * @param kvUsedBlocks KV blocks held by generations
 */
public record ActiveLoad(
    WorkerRank rank,
    @Nullable Long activeDecodeBlocks,
    @Nullable Long activePrefillTokens,
    @Nullable Long kvUsedBlocks) {
  /** The topic of load reports. */
  public static final String TOPIC = "kv_metrics";

  /** Creates a report as workers of Dynamo 1.6.1 send it: with blocks in use only. */
  public static ActiveLoad ofUsedBlocks(WorkerRank rank, long blocks) {
    return new ActiveLoad(rank, null, null, blocks);
  }
}
