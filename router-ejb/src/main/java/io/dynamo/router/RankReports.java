package io.dynamo.router;

import io.dynamo.discovery.EndpointId;
import io.dynamo.kv.WorkerRank;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Gives access to the load that workers report of their ranks. Safe for concurrent use. */
public interface RankReports {
  /**
   * The newest load report of a rank; null components were not reported.
   *
   * @param usedBlocks KV blocks in use by generations
   * @param activeBlocks KV blocks of generations that decode
   * @param prefillTokens prompt tokens being prefilled
   * @param ageNanos nanoseconds since the report arrived
   */
  record RankReport(
      @Nullable Long usedBlocks,
      @Nullable Long activeBlocks,
      @Nullable Long prefillTokens,
      long ageNanos) {}

  /** Returns the newest valid report of {@code rank}; empty when there is none. */
  Optional<RankReport> report(EndpointId endpoint, WorkerRank rank);
}
