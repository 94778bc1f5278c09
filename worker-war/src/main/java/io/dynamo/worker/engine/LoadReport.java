package io.dynamo.worker.engine;

import java.util.List;

/** Reports the load of an {@link Engine}. Safe for concurrent use. */
public interface LoadReport {
  /** Returns one entry per rank, in the order of rank numbers; empty before the start. */
  List<RankLoad> ranks();

  /** Returns how many generations requesters have cancelled since the start. */
  long cancelled();

  /**
   * Returns when the last cancelled generation ended, in terms of {@link System#nanoTime()}; 0
   * before any.
   */
  long lastCancelNanos();
}
