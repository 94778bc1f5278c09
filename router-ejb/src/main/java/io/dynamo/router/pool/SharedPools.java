package io.dynamo.router.pool;

import io.dynamo.discovery.WorkerSet;
import org.jspecify.annotations.Nullable;

/** Opens the pools of a router's workers. Safe for concurrent use. */
public interface SharedPools {
  /**
   * Opens the pool that {@code workers} share; it follows the pool's events until it is closed.
   *
   * @param events the address of the pool's events; null takes it from the workers' cards
   */
  SharedPool open(WorkerSet workers, @Nullable String events);
}
