package io.dynamo.router.endpoint;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.ModelRecord;
import io.dynamo.discovery.WorkerSet;
import io.dynamo.model.UnreportedCache;
import io.dynamo.router.ingest.LoadIntake;
import io.dynamo.router.pool.HicacheCards;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Follows the model cards in discovery: which model each worker serves, with which adapters, and
 * its limits. Written by discovery's thread, read by any.
 */
public final class ModelTraits implements WorkerCards, HicacheCards {
  private record Server(EndpointId endpoint, InstanceId id) {}

  /**
   * The cards of one worker. Immutable.
   *
   * @param model null while the worker has only cards of adapters
   * @param set the set that {@code model} belongs to; null without a model
   * @param adapters by the suffix of their keys
   */
  private record Cards(
      @Nullable ModelRecord model,
      @Nullable WorkerSet set,
      Map<String, ModelRecord> adapters,
      WorkerTraits traits) {
    static final Cards NONE = of(null, Map.of());

    static Cards of(@Nullable ModelRecord model, Map<String, ModelRecord> adapters) {
      return new Cards(
          model,
          model == null ? null : WorkerSet.of(model),
          Map.copyOf(adapters),
          ModelTraits.traits(model, adapters.values()));
    }

    Cards with(ModelRecord record) {
      if (record.suffix() == null) {
        return of(record, adapters);
      }
      var more = new HashMap<>(adapters);
      more.put(record.suffix(), record);
      return of(model, more);
    }

    Cards without(ModelRecord record) {
      if (record.suffix() == null) {
        return of(null, adapters);
      }
      var fewer = new HashMap<>(adapters);
      fewer.remove(record.suffix());
      return of(model, fewer);
    }
  }

  private final Map<Server, Cards> workers = new ConcurrentHashMap<>(); // written under sets
  private final Map<WorkerSet, Map<InstanceId, ModelRecord>> sets = // each oldest first
      new LinkedHashMap<>(); // guarded by itself
  private final Map<WorkerSet, Set<InstanceId>> adapters = // its workers, oldest first
      new HashMap<>(); // guarded by sets
  private final List<Consumer<EndpointId>> listeners = new CopyOnWriteArrayList<>();

  /**
   * Follows the model cards in {@code discovery} until the result is closed.
   *
   * @param onServed called with an endpoint when a model's card of it was added, perhaps again, and
   *     when the loss of a card changes the profile of a set, removes a description of a shared
   *     cache, or leaves a set without workers; must not block
   */
  public Discovery.Handle follow(Discovery discovery, Consumer<EndpointId> onServed) {
    return discovery.watch(ModelRecord.class, event -> onEvent(event, onServed));
  }

  private void onEvent(DiscoveryEvent<ModelRecord> event, Consumer<EndpointId> onServed) {
    boolean matters =
        switch (event) {
          case DiscoveryEvent.Added<ModelRecord>(var record) -> add(record);
          case DiscoveryEvent.Lost<ModelRecord>(var record) -> remove(record);
        };
    if (event.record().suffix() == null) {
      listeners.forEach(listener -> listener.accept(event.record().endpoint()));
    }
    if (matters) {
      onServed.accept(event.record().endpoint());
    }
  }

  private boolean add(ModelRecord record) {
    synchronized (sets) {
      var server = server(record);
      var before = workers.getOrDefault(server, Cards.NONE);
      workers.put(server, before.with(record));
      if (record.suffix() != null) {
        unload(before.adapters.get(record.suffix()));
        adapters.computeIfAbsent(WorkerSet.of(record), _ -> new LinkedHashSet<>()).add(record.id());
        return false;
      }
      var set = WorkerSet.of(record);
      var old = before.set;
      if (old != null && !old.equals(set)) {
        leave(old, record.id());
      }
      sets.computeIfAbsent(set, _ -> new LinkedHashMap<>()).put(record.id(), record);
      return true;
    }
  }

  private boolean remove(ModelRecord record) {
    synchronized (sets) {
      var before = workers.getOrDefault(server(record), Cards.NONE);
      var left = before.without(record);
      if (left.equals(Cards.NONE)) {
        workers.remove(server(record));
      } else {
        workers.put(server(record), left);
      }
      if (record.suffix() != null) {
        unload(before.adapters.get(record.suffix()));
        return false;
      }
      return before.set != null && leave(before.set, record.id());
    }
  }

  /** Removes the worker of {@code adapter} from those that have it. Called with the lock. */
  private void unload(@Nullable ModelRecord adapter) {
    if (adapter != null) {
      adapters.computeIfPresent(
          WorkerSet.of(adapter),
          (_, ids) -> ids.remove(adapter.id()) && ids.isEmpty() ? null : ids);
    }
  }

  /**
   * Removes a worker's card from the set; returns whether the set's profile or its descriptions of
   * a shared cache changed, or no worker is left. Called with the lock.
   */
  private boolean leave(WorkerSet set, InstanceId id) {
    var known = sets.get(set);
    if (known == null) {
      return false;
    }
    var before = profile(set);
    var card = known.remove(id);
    if (known.isEmpty()) {
      sets.remove(set);
      return true;
    }
    return !before.equals(profile(set)) || (card != null && hicache(card) != null);
  }

  @Override
  public Cancellation.Registration onChange(Consumer<EndpointId> listener) {
    listeners.add(listener);
    return () -> listeners.remove(listener);
  }

  @Override
  public @Nullable WorkerSet set(Instance worker) {
    return workers.getOrDefault(server(worker), Cards.NONE).set;
  }

  @Override
  public Collection<WorkerSet> sets(EndpointId endpoint) {
    synchronized (sets) {
      return sets.keySet().stream().filter(set -> set.endpoint().equals(endpoint)).toList();
    }
  }

  @Override
  public @Nullable WorkerSet serving(WorkerSet requested) {
    synchronized (sets) {
      if (sets.containsKey(requested)) {
        return requested;
      }
      for (var id : adapters.getOrDefault(requested, Set.of())) {
        var set = workers.getOrDefault(new Server(requested.endpoint(), id), Cards.NONE).set;
        if (set != null) {
          return set;
        }
      }
      return null;
    }
  }

  private static EndpointProfile profile(ModelRecord record) {
    var card = record.card();
    return new EndpointProfile(
        card.displayName(),
        Boolean.TRUE.equals(card.runtimeConfig().get("enable_eagle")),
        card.routerConfig());
  }

  private static @Nullable Object hicache(ModelRecord record) {
    return record.card().runtimeConfig().get("runtime_data") instanceof Map<?, ?> data
        ? data.get(NAME)
        : null;
  }

  @Override
  public EndpointProfile profile(WorkerSet set) {
    synchronized (sets) {
      var known = sets.get(set);
      return known == null ? EndpointProfile.UNKNOWN : profile(known.values().iterator().next());
    }
  }

  @Override
  public List<Object> hicache(WorkerSet set) {
    var said = new ArrayList<Object>();
    synchronized (sets) {
      for (var record : sets.getOrDefault(set, Map.of()).values()) {
        var card = hicache(record);
        if (card != null) {
          said.add(card);
        }
      }
    }
    return said;
  }

  private static Server server(ModelRecord record) {
    return new Server(record.endpoint(), record.id());
  }

  private static Server server(Instance instance) {
    return new Server(instance.endpoint(), instance.id());
  }

  /**
   * Returns the traits by a worker's cards. Cards of adapters are separate from that of their model
   * and name only the adapter.
   */
  private static WorkerTraits traits(
      @Nullable ModelRecord model, Collection<ModelRecord> adapters) {
    var names = new HashSet<String>();
    for (var adapter : adapters) {
      names.add(adapter.card().displayName());
      var lora = adapter.card().lora();
      if (lora != null) {
        names.add(lora.name());
      }
    }
    if (model == null) {
      return new WorkerTraits(RankRange.ONE, 0, 0, Set.of(), names);
    }
    var config = model.card().runtimeConfig();
    return new WorkerTraits(
        ranks(number(config.get("data_parallel_start_rank")), model.card().ranks()),
        number(config.get("max_num_batched_tokens")),
        number(config.get("total_kv_blocks")),
        taints(config.get("taints")),
        names,
        UnreportedCache.of(model.card()));
  }

  /** Returns the ranks that a card names, cut to the highest number that the router accepts. */
  private static RankRange ranks(long first, int count) {
    int from = (int) Math.min(first, LoadIntake.MAX_RANKS - 1);
    return new RankRange(from, Math.clamp(count, 1, LoadIntake.MAX_RANKS - from));
  }

  private static long number(@Nullable Object value) {
    return value instanceof Number number ? Math.max(0, number.longValue()) : 0;
  }

  /** Returns the names in a list, or the keys of a map. */
  private static Set<String> taints(@Nullable Object value) {
    var names = new HashSet<String>();
    switch (value) {
      case Map<?, ?> map -> map.keySet().forEach(name -> names.add(String.valueOf(name)));
      case Iterable<?> list -> list.forEach(name -> names.add(String.valueOf(name)));
      case null, default -> {}
    }
    return names;
  }

  /** Returns the number of workers with at least one card. */
  int workers() {
    return workers.size();
  }

  @Override
  public WorkerTraits traits(Instance instance) {
    return workers.getOrDefault(server(instance), Cards.NONE).traits;
  }
}
