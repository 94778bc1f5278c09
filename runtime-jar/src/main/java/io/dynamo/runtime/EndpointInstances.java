package io.dynamo.runtime;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import java.util.List;
import java.util.Set;

/**
 * The live instances of one endpoint, as a client sees them. Safe for concurrent use; reads take no
 * lock.
 */
public interface EndpointInstances {
  /** Every instance in discovery, in the order of their ids. A snapshot that never changes. */
  List<Instance> live();

  /** Those of {@link #live()} that are set aside after a failure. A snapshot. */
  Set<InstanceId> inhibited();

  /** Sets an instance aside for the configured while, because a request to it failed. */
  void inhibit(InstanceId id);

  /**
   * Calls {@code listener} after each change of {@link #live()}, and once at the start. It must not
   * block.
   */
  Cancellation.Registration onChange(Runnable listener);
}
