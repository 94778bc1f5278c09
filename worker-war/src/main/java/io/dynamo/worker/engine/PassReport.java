package io.dynamo.worker.engine;

import io.dynamo.kv.ForwardPass;

/** Reports each forward pass of an {@link Engine} that works in passes. */
public interface PassReport {
  /** Receives the passes of all ranks, each rank's in order and from one thread; must not block. */
  @FunctionalInterface
  interface Listener {
    /** Called after each pass of {@code rank}. */
    void passed(int rank, ForwardPass pass);
  }

  /**
   * Reports each pass to {@code listener} from now on, in place of any earlier listener. Called
   * after the engine has started.
   */
  void reportPassesTo(Listener listener);
}
