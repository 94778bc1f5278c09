package io.dynamo.router.pool;

import io.dynamo.discovery.WorkerSet;
import org.jspecify.annotations.Nullable;

/** Makes the pools of a router's workers. Safe for concurrent use. */
public interface SharedPools {
  /**
   * The pool that the workers of {@code workers} share; hears of it until closed.
   *
   * @param events where it is told what is in it; null is as the workers' cards say
   */
  SharedPool open(WorkerSet workers, @Nullable String events);
}
