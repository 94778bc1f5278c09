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

/** How one endpoint's requests are compared with its ranks. Safe for concurrent use. */
interface Strategy extends AutoCloseable {
  /** Looks at the prompt. */
  Plan plan(RouteRequest request);

  /** Prompts of open requests that are believed to be cached; 0 where none are. */
  int holds();

  /** Distinct blocks that are known to be cached somewhere; recent. */
  int indexBlocks();

  /** Workers of the endpoint came or went. */
  default void workersChanged() {}

  /** Model cards of the workers may say something else. */
  default void cardsChanged() {}

  @Override
  void close();

  /** One request's way to a rank; for one thread. */
  interface Plan {
    /** The load that the request adds to the chosen rank. */
    Work work();

    /** Whether the prompt counts as work ahead, so that waiting can help. */
    boolean tracksPrefill();

    /** Finds out what the ranks know of the prompt; before {@link #choose}, without a lock. */
    void look(RankCandidates candidates);

    /** Chooses; short, under the lock of the loads. */
    Verdict choose(RankCandidates candidates, RankLoads loads);

    /**
     * Called once the request has been placed on a rank.
     *
     * @param traits of the rank's worker
     * @return closed when the request ends
     */
    RoomIndex.Hold placed(WorkerRank rank, WorkerTraits traits, Verdict verdict);

    /** Prompt tokens that the best candidate has cached, by the last look. */
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
