package io.dynamo.router.endpoint;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.WorkerSet;
import io.dynamo.runtime.EndpointInstances;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The live instances of an endpoint whose model card belongs to one set. An instance without a card
 * is left out, because its model is unknown. Safe for concurrent use; reads take no lock.
 */
final class ModelInstances implements EndpointInstances, AutoCloseable {
  private final WorkerSet set;
  private final EndpointInstances all;
  private final WorkerCards cards;
  private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
  private final Cancellation.Registration instanceChanges;
  private final Cancellation.Registration cardChanges;
  private volatile List<Instance> live = List.of(); // replaced as a whole, under this

  /** Follows {@code all} and {@code cards} until it is closed. */
  ModelInstances(WorkerSet set, EndpointInstances all, WorkerCards cards) {
    this.set = set;
    this.all = all;
    this.cards = cards;
    this.cardChanges =
        cards.onChange(
            endpoint -> {
              if (endpoint.equals(set.endpoint())) {
                refresh();
              }
            });
    this.instanceChanges = all.onChange(this::refresh);
  }

  private void refresh() {
    synchronized (this) {
      var next = all.live().stream().filter(instance -> set.equals(cards.set(instance))).toList();
      if (next.equals(live)) {
        return;
      }
      live = next;
    }
    listeners.forEach(Runnable::run);
  }

  @Override
  public List<Instance> live() {
    return live;
  }

  @Override
  public Set<InstanceId> inhibited() {
    var aside = all.inhibited();
    if (aside.isEmpty()) {
      return aside;
    }
    var own = new HashSet<InstanceId>();
    for (var instance : live) {
      if (aside.contains(instance.id())) {
        own.add(instance.id());
      }
    }
    return Set.copyOf(own);
  }

  @Override
  public void inhibit(InstanceId id) {
    all.inhibit(id);
  }

  @Override
  public Cancellation.Registration onChange(Runnable listener) {
    listeners.add(listener);
    listener.run();
    return () -> listeners.remove(listener);
  }

  /** Stops following; the last live set stays. Idempotent. */
  @Override
  public void close() {
    instanceChanges.close();
    cardChanges.close();
  }
}
