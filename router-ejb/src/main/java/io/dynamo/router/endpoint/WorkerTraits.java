package io.dynamo.router.endpoint;

import java.util.Set;

/**
 * A worker's ranks, limits, taints and adapters, as its model cards state them.
 *
 * @param maxBatchedTokens prompt tokens that one pass of a rank takes; 0 is unknown
 * @param totalBlocks KV blocks of a rank; 0 is unknown
 * @param adapters names of the LoRA adapters that the worker has loaded
 * @param hasUnreportedCache whether it keeps prefixes without publishing which
 */
public record WorkerTraits(
    RankRange ranks,
    long maxBatchedTokens,
    long totalBlocks,
    Set<String> taints,
    Set<String> adapters,
    boolean hasUnreportedCache) {
  /** The traits of a worker without a card. */
  public static final WorkerTraits UNKNOWN = of(RankRange.ONE);

  public WorkerTraits {
    taints = Set.copyOf(taints);
    adapters = Set.copyOf(adapters);
  }

  /** Creates the traits of a worker whose events say what it has cached. */
  public WorkerTraits(
      RankRange ranks,
      long maxBatchedTokens,
      long totalBlocks,
      Set<String> taints,
      Set<String> adapters) {
    this(ranks, maxBatchedTokens, totalBlocks, taints, adapters, false);
  }

  /** Returns the traits of a worker of which only the ranks are known. */
  public static WorkerTraits of(RankRange ranks) {
    return new WorkerTraits(ranks, 0, 0, Set.of(), Set.of());
  }
}
