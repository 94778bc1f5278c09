package io.dynamo.worker.serve;

import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.ModelRecord;
import io.dynamo.discovery.WorkerSet;
import io.dynamo.runtime.EndpointInstances;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Watches whether another worker could take over this worker's generations: a live instance of its
 * endpoint whose card is of the same set of workers. Other models may be served there, too. Safe
 * for concurrent use.
 */
public final class Successors implements AutoCloseable {
  private final InstanceId self;
  private final EndpointInstances instances;
  private final Map<InstanceId, WorkerSet> sets = new ConcurrentHashMap<>();
  private final Discovery.Handle watch;
  private volatile @Nullable WorkerSet own; // null until the card exists

  /** Watches the cards of the endpoint's other instances until {@link #close}. */
  public Successors(EndpointId endpoint, EndpointInstances instances, Discovery discovery) {
    this.self = discovery.instanceId();
    this.instances = instances;
    this.watch =
        discovery.watch(
            ModelRecord.class,
            event -> {
              if (event.record().suffix() == null && event.record().endpoint().equals(endpoint)) {
                onEvent(event);
              }
            });
  }

  private void onEvent(DiscoveryEvent<ModelRecord> event) {
    switch (event) {
      case DiscoveryEvent.Added<ModelRecord>(var record) ->
          sets.put(record.id(), WorkerSet.of(record));
      case DiscoveryEvent.Lost<ModelRecord>(var record) -> sets.remove(record.id());
    }
  }

  /** Sets the set of workers that this worker belongs to. */
  public void serve(WorkerSet set) {
    own = set;
  }

  /** Whether a successor is there now. */
  public boolean areThere() {
    return !ids().isEmpty();
  }

  /** Returns the successors that are there now. */
  public Set<InstanceId> ids() {
    var set = own;
    return set == null
        ? Set.of()
        : instances.live().stream()
            .map(Instance::id)
            .filter(id -> !id.equals(self) && set.equals(sets.get(id)))
            .collect(Collectors.toUnmodifiableSet());
  }

  /** Stops watching. Idempotent. */
  @Override
  public void close() {
    watch.close();
  }
}
