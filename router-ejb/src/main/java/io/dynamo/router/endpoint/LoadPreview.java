package io.dynamo.router.endpoint;

import io.dynamo.kv.WorkerRank;
import org.jspecify.annotations.Nullable;

/**
 * The rank that a request would go to now, and its load. Nothing is booked.
 *
 * @param cachedTokens leading tokens of the prompt that the rank has cached on its device
 * @param prefillTokens prompt tokens booked on the rank by others
 * @param batchTokens tokens that one pass of the rank takes
 * @param blocks active blocks of the rank, those that the request would add included
 * @param totalBlocks KV blocks of the rank; 0 is unknown
 */
record LoadPreview(
    WorkerRank rank,
    long cachedTokens,
    long prefillTokens,
    long batchTokens,
    long blocks,
    long totalBlocks) {
  /** Whether more than {@code batches} of prefill are booked on the rank. */
  boolean hasPrefill(double batches) {
    return prefillTokens > batches * batchTokens;
  }

  /** Whether more than {@code share} of the rank's blocks would be active; null is unknown. */
  @Nullable Boolean hasBlocks(double share) {
    return totalBlocks == 0 ? null : (Boolean) (blocks > share * totalBlocks);
  }
}
