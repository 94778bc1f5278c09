package io.dynamo.frontend.catalog;

import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.WorkerSet;
import io.dynamo.runtime.EndpointInstances;
import java.util.function.Function;
import java.util.function.Predicate;

/** Counts the workers of a set that can be called now. Safe for concurrent use; never blocks. */
final class LiveWorkers {
  private final Function<EndpointId, EndpointInstances> instances;
  private final Predicate<WorkerSet> allBusy;

  /**
   * @param allBusy whether all live workers of a set are busy
   */
  LiveWorkers(Function<EndpointId, EndpointInstances> instances, Predicate<WorkerSet> allBusy) {
    this.instances = instances;
    this.allBusy = allBusy;
  }

  private EndpointInstances at(CatalogEntry set) {
    return instances.apply(set.workers().endpoint());
  }

  /** Whether any worker of {@code set} is live. */
  boolean isAnyLive(CatalogEntry set) {
    for (var instance : at(set).live()) {
      if (set.ids().contains(instance.id())) {
        return true;
      }
    }
    return false;
  }

  /** Returns the number of live workers of {@code set}. */
  int live(CatalogEntry set) {
    int count = 0;
    for (var instance : at(set).live()) {
      count += set.ids().contains(instance.id()) ? 1 : 0;
    }
    return count;
  }

  /** Returns {@link #usable}, but 0 for a set whose workers are all busy. */
  int free(CatalogEntry set) {
    return allBusy.test(set.workers()) ? 0 : usable(set);
  }

  /** Returns the number of live workers of {@code set} that are not set aside after a failure. */
  int usable(CatalogEntry set) {
    var endpoint = at(set);
    var aside = endpoint.inhibited();
    int count = 0;
    for (var instance : endpoint.live()) {
      count += set.ids().contains(instance.id()) && !aside.contains(instance.id()) ? 1 : 0;
    }
    return count;
  }
}
