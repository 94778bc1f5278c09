package io.dynamo.runtime;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.LongSupplier;

/**
 * The live instances of one endpoint. Written by the watch thread only; read by any thread, without
 * a lock.
 */
final class LiveInstances implements EndpointInstances {
  private final Duration inhibitedDuration;
  private final LongSupplier nanoClock;
  private final Map<InstanceId, Long> inhibitedUntil = new ConcurrentHashMap<>(); // in nanoseconds
  private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
  private volatile List<Instance> instances = List.of(); // replaced whole, never modified

  LiveInstances(Duration inhibitedDuration, LongSupplier nanoClock) {
    this.inhibitedDuration = inhibitedDuration;
    this.nanoClock = nanoClock;
  }

  void onEvent(DiscoveryEvent<Instance> event) {
    instances =
        switch (event) {
          case DiscoveryEvent.Added<Instance> added -> with(added.record());
          case DiscoveryEvent.Lost<Instance> lost -> without(lost.record().id());
        };
    listeners.forEach(Runnable::run);
  }

  private List<Instance> with(Instance instance) {
    var next = new ArrayList<>(without(instance.id()));
    next.add(instance);
    next.sort(Comparator.comparing(Instance::id));
    return List.copyOf(next);
  }

  private List<Instance> without(InstanceId id) {
    return instances.stream().filter(instance -> !instance.id().equals(id)).toList();
  }

  @Override
  public List<Instance> live() {
    return instances;
  }

  @Override
  public Set<InstanceId> inhibited() {
    if (inhibitedUntil.isEmpty()) {
      return Set.of();
    }
    long now = nanoClock.getAsLong();
    inhibitedUntil.values().removeIf(until -> until - now <= 0);
    var aside = new HashSet<>(inhibitedUntil.keySet());
    var live = instances;
    aside.removeIf(id -> live.stream().noneMatch(instance -> instance.id().equals(id)));
    return Set.copyOf(aside);
  }

  @Override
  public void inhibit(InstanceId id) {
    if (inhibitedDuration.isPositive()) {
      inhibitedUntil.put(id, nanoClock.getAsLong() + inhibitedDuration.toNanos());
    }
  }

  @Override
  public Cancellation.Registration onChange(Runnable listener) {
    listeners.add(listener);
    listener.run();
    return () -> listeners.remove(listener);
  }
}
