package io.dynamo.router;

import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.ModelRecord;
import io.dynamo.router.ingest.LoadIntake;
import io.dynamo.router.pool.HicacheCards;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What each worker's model cards say of it; one rank and nothing else until a card is there.
 * Written by discovery's thread, read by any.
 */
public final class ModelTraits implements WorkerCards, HicacheCards {
  private record Server(EndpointId endpoint, InstanceId id) {}

  /**
   * What one worker says for its endpoint.
   *
   * @param hicache of the cache that it shares; null is nothing
   */
  private record Card(EndpointProfile profile, @Nullable Object hicache) {}

  private final Map<Server, WorkerTraits> traits = new ConcurrentHashMap<>();
  private final Map<EndpointId, Map<InstanceId, Card>> cards = // each oldest first
      new HashMap<>(); // guarded by itself

  /**
   * Follows the model cards in {@code discovery} until the result is closed.
   *
   * @param onServed told each endpoint that serves a model, perhaps again, and when another card
   *     speaks for it, or less is said of what its workers share; must not block
   */
  public Discovery.Handle follow(Discovery discovery, Consumer<EndpointId> onServed) {
    return discovery.watch(ModelRecord.class, event -> onEvent(event, onServed));
  }

  private void onEvent(DiscoveryEvent<ModelRecord> event, Consumer<EndpointId> onServed) {
    switch (event) {
      case DiscoveryEvent.Added<ModelRecord>(var record) -> {
        traits.merge(server(record), added(record), (old, card) -> merged(record, old, card));
        if (record.suffix() == null) {
          synchronized (cards) {
            cards
                .computeIfAbsent(record.endpoint(), _ -> new LinkedHashMap<>())
                .put(record.id(), new Card(profile(record), hicache(record)));
          }
          onServed.accept(record.endpoint());
        }
      }
      case DiscoveryEvent.Lost<ModelRecord>(var record) -> {
        traits.computeIfPresent(server(record), (_, old) -> without(record, old));
        if (record.suffix() == null && forgets(record)) {
          onServed.accept(record.endpoint());
        }
      }
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

  /** Whether others are left and say something else. */
  private boolean forgets(ModelRecord record) {
    synchronized (cards) {
      var before = profile(record.endpoint());
      var known = cards.get(record.endpoint());
      if (known == null) {
        return false;
      }
      var card = known.remove(record.id());
      if (known.isEmpty()) {
        cards.remove(record.endpoint());
        return false; // whoever comes next says something
      }
      return !before.equals(profile(record.endpoint())) || (card != null && card.hicache != null);
    }
  }

  @Override
  public EndpointProfile profile(EndpointId endpoint) {
    synchronized (cards) {
      var known = cards.get(endpoint);
      return known == null ? EndpointProfile.UNKNOWN : known.values().iterator().next().profile;
    }
  }

  @Override
  public List<Object> hicache(EndpointId endpoint) {
    var said = new ArrayList<Object>();
    synchronized (cards) {
      for (var card : cards.getOrDefault(endpoint, Map.of()).values()) {
        if (card.hicache != null) {
          said.add(card.hicache);
        }
      }
    }
    return said;
  }

  private static Server server(ModelRecord record) {
    return new Server(record.endpoint(), record.id());
  }

  /** Cards of adapters come and go beside that of their model and name the adapter alone. */
  private static WorkerTraits added(ModelRecord record) {
    if (record.suffix() != null) {
      return withAdapters(WorkerTraits.UNKNOWN, Set.of(record.card().displayName()));
    }
    var config = record.card().runtimeConfig();
    return new WorkerTraits(
        ranks(number(config.get("data_parallel_start_rank")), record.card().ranks()),
        number(config.get("max_num_batched_tokens")),
        number(config.get("total_kv_blocks")),
        taints(config.get("taints")),
        Set.of());
  }

  /** The ranks that are told of, as far as any are believed. */
  private static RankRange ranks(long first, int count) {
    int from = (int) Math.min(first, LoadIntake.MAX_RANKS - 1);
    return new RankRange(from, Math.clamp(count, 1, LoadIntake.MAX_RANKS - from));
  }

  private static WorkerTraits merged(ModelRecord record, WorkerTraits old, WorkerTraits card) {
    if (record.suffix() == null) {
      return withAdapters(card, old.adapters());
    }
    var adapters = new HashSet<>(old.adapters());
    adapters.addAll(card.adapters());
    return withAdapters(old, adapters);
  }

  private static @Nullable WorkerTraits without(ModelRecord record, WorkerTraits old) {
    var adapters = new HashSet<>(old.adapters());
    if (record.suffix() != null) {
      adapters.remove(record.card().displayName());
    }
    var left = withAdapters(record.suffix() == null ? WorkerTraits.UNKNOWN : old, adapters);
    return left.equals(WorkerTraits.UNKNOWN) ? null : left;
  }

  private static WorkerTraits withAdapters(WorkerTraits of, Set<String> adapters) {
    return new WorkerTraits(
        of.ranks(), of.maxBatchedTokens(), of.totalBlocks(), of.taints(), adapters);
  }

  private static long number(@Nullable Object value) {
    return value instanceof Number number ? Math.max(0, number.longValue()) : 0;
  }

  /** A list of names, or a map whose keys they are. */
  private static Set<String> taints(@Nullable Object value) {
    var names = new HashSet<String>();
    switch (value) {
      case Map<?, ?> map -> map.keySet().forEach(name -> names.add(String.valueOf(name)));
      case Iterable<?> list -> list.forEach(name -> names.add(String.valueOf(name)));
      case null, default -> {}
    }
    return names;
  }

  /** Workers of which something is kept. */
  int workers() {
    return traits.size();
  }

  @Override
  public WorkerTraits traits(Instance instance) {
    return traits.getOrDefault(
        new Server(instance.endpoint(), instance.id()), WorkerTraits.UNKNOWN);
  }
}
