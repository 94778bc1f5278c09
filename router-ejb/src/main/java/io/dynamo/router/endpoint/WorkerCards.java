package io.dynamo.router.endpoint;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.WorkerSet;
import java.util.Collection;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Looks up the facts that model cards in discovery state about workers. Safe for concurrent use;
 * never blocks.
 */
public interface WorkerCards {
  /** Returns the traits of one worker by its cards. */
  WorkerTraits traits(Instance worker);

  /** Returns the set that {@code worker} belongs to; null while it has no card of a model. */
  @Nullable WorkerSet set(Instance worker);

  /** Returns the sets of the workers of {@code endpoint}. A snapshot. */
  Collection<WorkerSet> sets(EndpointId endpoint);

  /**
   * Returns the set whose workers serve {@code requested}: itself, or where {@code requested} is an
   * adapter, the set of the model that the adapter is loaded on. Null when no card describes a
   * worker that serves it.
   */
  @Nullable WorkerSet serving(WorkerSet requested);

  /** Returns the properties that all workers of {@code set} share. */
  EndpointProfile profile(WorkerSet set);

  /**
   * Calls {@code listener} with the endpoint after each change of {@link #set}. It must not block.
   */
  Cancellation.Registration onChange(Consumer<EndpointId> listener);
}
