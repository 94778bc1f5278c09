package io.dynamo.router.endpoint;

import io.dynamo.kv.WorkerRank;
import io.dynamo.router.RouteRequest;
import io.dynamo.router.index.RoomIndex;
import io.dynamo.router.load.RankLoads;
import io.dynamo.router.load.Work;
import io.dynamo.router.select.Spread;
import io.dynamo.token.BlockHashes;

/** A strategy that ignores the prompt: each request counts as one unit of load. */
final class SpreadStrategy implements Strategy {
  private static final BlockHashes NO_BLOCKS = BlockHashes.ofBlocks();

  private static final String CPU = "cpu"; // device type in instance records

  private final Spread spread;

  SpreadStrategy(Spread spread) {
    this.spread = spread;
  }

  @Override
  public Plan plan(RouteRequest request) {
    var work =
        new Work(
            request.requestId(),
            NO_BLOCKS,
            request.tokenIds().length,
            request.blockTokens(),
            false,
            null);
    return new Plan() {
      @Override
      public Work work() {
        return work;
      }

      @Override
      public boolean tracksPrefill() {
        return false;
      }

      @Override
      public void look(RankCandidates candidates) {} // prompts do not matter

      @Override
      public Verdict choose(RankCandidates candidates, RankLoads loads) {
        int chosen =
            spread.choose(loads, i -> CPU.equals(candidates.instances().get(i).deviceType()));
        return new Verdict(chosen, 0, spread.reason(), loads, null, null);
      }

      @Override
      public RoomIndex.Hold placed(WorkerRank rank, WorkerTraits traits, Verdict verdict) {
        return RoomIndex.Hold.NONE; // nothing is recorded
      }

      @Override
      public long cachedTokens() {
        return 0;
      }
    };
  }

  @Override
  public int holds() {
    return 0;
  }

  @Override
  public int indexBlocks() {
    return 0;
  }

  @Override
  public void close() {} // nothing to release
}
