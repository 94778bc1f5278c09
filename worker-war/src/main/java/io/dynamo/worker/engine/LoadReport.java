package io.dynamo.worker.engine;

import java.util.List;

/** Reports the load of an {@link Engine} that knows its own. Safe for concurrent use. */
public interface LoadReport {
  /** One entry per rank, in the order of their numbers; empty before the start. */
  List<RankLoad> ranks();

  /** Generations that the requester gave up, ever. */
  long cancelled();

  /** When the last of them had ended, in the terms of {@link System#nanoTime()}; 0 before any. */
  long lastCancelNanos();
}
