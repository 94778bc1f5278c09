package io.dynamo.worker.engine;

import io.dynamo.kv.ForwardPass;

/** Reports each pass of an {@link Engine} that works in passes. */
public interface PassReport {
  /** Hears the passes of all ranks, each rank's in order and from one thread; must not block. */
  @FunctionalInterface
  interface Listener {
    /** A pass of {@code rank} has ended. */
    void passed(int rank, ForwardPass pass);
  }

  /**
   * Tells {@code listener}, and nobody else, of each pass from now on. Once the engine has started.
   */
  void tellPasses(Listener listener);
}
