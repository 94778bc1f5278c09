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
  /** Returns every instance in discovery, in the order of their ids, as an immutable snapshot. */
  List<Instance> live();

  /**
   * Returns the ids of {@link #live()} instances that are set aside after a failure, as a snapshot.
   */
  Set<InstanceId> inhibited();

  /** Sets an instance aside for the configured time, because a request to it failed. */
  void inhibit(InstanceId id);

  /**
   * Calls {@code listener} after each change of {@link #live()}, and once at the start. It must not
   * block.
   */
  Cancellation.Registration onChange(Runnable listener);
}
