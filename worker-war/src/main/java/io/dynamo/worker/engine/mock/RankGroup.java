package io.dynamo.worker.engine.mock;

import io.dynamo.worker.engine.Pacer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Runs the data-parallel ranks of an engine in lockstep as vLLM's: a pass begins when all ranks can
 * begin, and ends with the slowest; a rank that has nothing to do waits for the others. Driven by
 * one thread; {@link #wake} and {@link #close} may be called by any thread.
 */
final class RankGroup implements Pacer.Paced {
  /** The result of {@code beginPass} when there is nothing to compute. */
  static final long NO_PASS = -1;

  private volatile List<RankScheduler> ranks = List.of(); // set by start
  private volatile Pacer.@Nullable Driven driven;
  private boolean passing;
  private boolean[] takesPart = {}; // indexed by rank
  private long passNanos; // duration of the current pass, or the last one
  private long passEnd; // by the pacer's clock

  /** Starts the group's thread; called once. */
  void start(Pacer pacer, List<RankScheduler> all) {
    ranks = List.copyOf(all);
    takesPart = new boolean[all.size()];
    driven = pacer.drive("mock-engine", this);
  }

  void wake() {
    var by = driven;
    if (by != null) {
      by.wake();
    }
  }

  @Override
  public long tick(long now) {
    for (var rank : ranks) {
      rank.look(now);
    }
    if (passing && now - passEnd >= 0) {
      endPass();
    }
    if (!passing) {
      beginPass(now);
    }
    long wait = passing ? Math.max(0, passEnd - now) : IDLE;
    for (var rank : ranks) {
      wait = Math.min(wait, rank.settle(now));
    }
    return wait;
  }

  private void beginPass(long now) {
    long longest = NO_PASS;
    for (int rank = 0; rank < takesPart.length; rank++) {
      long takes = ranks.get(rank).beginPass();
      takesPart[rank] = takes != NO_PASS;
      longest = Math.max(longest, takes);
    }
    passing = longest != NO_PASS;
    if (passing) {
      boolean follows = now - passEnd < passNanos; // a late tick must not slow the simulation down
      passEnd = (follows ? passEnd : now) + longest;
      passNanos = longest;
    }
  }

  private void endPass() {
    passing = false;
    for (int rank = 0; rank < takesPart.length; rank++) {
      if (takesPart[rank]) {
        ranks.get(rank).endPass(passNanos);
      }
    }
  }

  @Override
  public void end() {
    ranks.forEach(RankScheduler::end);
  }

  /** Ends every generation and frees the caches. Idempotent. */
  void close() {
    var by = driven;
    if (by != null) {
      by.close();
    }
  }
}
