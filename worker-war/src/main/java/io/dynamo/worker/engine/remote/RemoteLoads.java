package io.dynamo.worker.engine.remote;

import io.dynamo.worker.engine.RankLoad;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;

/** Works out the load of a server's ranks from this worker's generations there. */
final class RemoteLoads {
  private RemoteLoads() {}

  /**
   * Returns the load of each rank. The held blocks are those that the tokens of the generations
   * would fill; generations that the server queues count as running.
   */
  static List<RankLoad> of(
      Collection<RemoteGeneration> generations,
      RemoteFacts facts,
      AtomicLongArray promptTokens,
      AtomicLongArray cachedTokens) {
    int ranks = facts.ranks();
    var running = new int[ranks];
    var held = new long[ranks];
    var prefill = new int[ranks];
    for (var generation : generations) {
      int rank = generation.rank();
      running[rank]++;
      long tokens = (long) generation.text().promptTokens() + generation.text().made();
      held[rank] += (tokens + facts.blockTokens() - 1) / facts.blockTokens();
      prefill[rank] += generation.prefillTokens();
    }
    var loads = new ArrayList<RankLoad>(ranks);
    for (int rank = 0; rank < ranks; rank++) {
      loads.add(
          new RankLoad(
              running[rank],
              0,
              (int) Math.min(facts.totalBlocks(), held[rank]),
              0,
              facts.totalBlocks(),
              prefill[rank],
              promptTokens.get(rank),
              cachedTokens.get(rank),
              0));
    }
    return List.copyOf(loads);
  }

  /** Returns the rank with the fewest generations, the lowest of several. */
  static int least(Collection<RemoteGeneration> generations, int ranks) {
    if (ranks == 1) {
      return 0;
    }
    var counts = new int[ranks];
    generations.forEach(generation -> counts[generation.rank()]++);
    int least = 0;
    for (int rank = 1; rank < ranks; rank++) {
      if (counts[rank] < counts[least]) {
        least = rank;
      }
    }
    return least;
  }
}
