package io.dynamo.router.endpoint;

import io.dynamo.kv.WorkerRank;
import io.dynamo.router.RouteRequest;
import io.dynamo.router.index.RoomIndex;
import io.dynamo.router.load.ActiveSequences;
import io.dynamo.router.load.RankLoads;
import io.dynamo.router.load.Work;
import io.dynamo.router.select.CostModel;
import io.dynamo.router.select.SelectionReason;
import org.jspecify.annotations.Nullable;

/** Compares the ranks of one endpoint for each request. Safe for concurrent use. */
interface Strategy extends AutoCloseable {
  /** Hashes the prompt and prepares the choice of its rank. */
  Plan plan(RouteRequest request);

  /**
   * Returns the number of open requests whose prompts are believed to be cached; 0 where none are
   * predicted.
   */
  int holds();

  /** Returns the number of distinct blocks known to be cached on any rank; may lag. */
  int indexBlocks();

  /** Called when workers of the endpoint were added or removed. */
  default void workersChanged() {}

  /** Called when the workers' model cards may have changed. */
  default void cardsChanged() {}

  @Override
  void close();

  /** The placing of one request; for one thread. */
  interface Plan {
    /** Returns the load that the request adds to the chosen rank. */
    Work work();

    /** Whether the prompt counts as prefill load, so that waiting can help. */
    boolean tracksPrefill();

    /**
     * Looks up how much of the prompt the candidates have cached; called before {@link #choose},
     * without a lock.
     */
    void look(RankCandidates candidates);

    /** Chooses a candidate; must be short, as it runs under the lock of the loads. */
    Verdict choose(RankCandidates candidates, RankLoads loads);

    /**
     * Called once the request has been placed on a rank.
     *
     * @param traits the traits of the rank's worker
     * @return closed when the request ends
     */
    RoomIndex.Hold placed(WorkerRank rank, WorkerTraits traits, Verdict verdict);

    /** Returns the prompt tokens that the best candidate has cached, by the latest look. */
    long cachedTokens();
  }

  /**
   * The chosen candidate and the figures that led to the choice.
   *
   * @param overlaps null where prompts are not looked at
   * @param terms null where there is no cost
   */
  record Verdict(
      int candidate,
      long tokensToPrefill,
      SelectionReason reason,
      RankLoads loads,
      CostModel.@Nullable Overlaps overlaps,
      CostModel.@Nullable Terms terms)
      implements ActiveSequences.Choice {
    int overlapBlocks() {
      return overlaps == null ? 0 : overlaps.device()[candidate];
    }
  }
}
