package io.dynamo.router.pool;

import io.dynamo.discovery.EndpointId;
import org.jspecify.annotations.Nullable;

/** Makes the pools of a router's endpoints. Safe for concurrent use. */
public interface SharedPools {
  /**
   * The pool that the workers of {@code endpoint} share; hears of it until closed.
   *
   * @param events where it is told what is in it; null is as the workers' cards say
   */
  SharedPool open(EndpointId endpoint, @Nullable String events);
}
