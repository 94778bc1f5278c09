package io.dynamo.frontend.catalog;

import io.dynamo.model.ModelCard;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SequencedCollection;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Every set of workers of one model, and the rule for which of them take requests. Workers of one
 * namespace depend on each other, those of different namespaces do not. Immutable.
 */
final class ModelEntry {
  private final String name;
  private final Map<String, List<CatalogEntry>> namespaces = new LinkedHashMap<>();

  /**
   * @param sets in order of arrival, at least one
   */
  ModelEntry(String name, Collection<CatalogEntry> sets) {
    this.name = name;
    for (var set : sets) {
      namespaces.computeIfAbsent(set.namespace(), _ -> new ArrayList<>()).add(set);
    }
  }

  String name() {
    return name;
  }

  /** Returns the names that its cards claim besides its own. */
  SequencedCollection<String> aliases() {
    var aliases = new LinkedHashSet<String>();
    namespaces.values().forEach(sets -> sets.forEach(set -> aliases.addAll(set.card().aliases())));
    return aliases;
  }

  /** Returns the flags of its cards. */
  Set<String> modelTypes() {
    var types = new TreeSet<String>();
    namespaces.values().forEach(sets -> sets.forEach(set -> types.addAll(set.card().modelTypes())));
    return types;
  }

  /**
   * Returns the sets that take requests now, in order of arrival. Of competing sets the first takes
   * requests, the others wait until its workers are gone.
   */
  List<CatalogEntry> ready(LiveWorkers workers) {
    var ready = new ArrayList<CatalogEntry>();
    for (var set : able(workers)) {
      if (ready.stream().noneMatch(first -> first.workers().competesWith(set.workers()))) {
        ready.add(set);
      }
    }
    return ready;
  }

  /**
   * Returns the sets that could take requests now, including those that wait for a competing set,
   * in order of arrival.
   */
  List<CatalogEntry> able(LiveWorkers workers) {
    var able = new ArrayList<CatalogEntry>();
    for (var sets : namespaces.values()) {
      if (problem(sets, workers) == null) {
        for (var set : sets) {
          if (set.served() != null && workers.isAnyLive(set)) {
            able.add(set);
          }
        }
      }
    }
    return able;
  }

  /** Returns the live prefill workers of the namespace of {@code decoder}. */
  Optional<PrefillSet> prefill(ServedModel decoder, LiveWorkers workers) {
    var tokenizer = decoder.workers().tokenizer();
    return namespaces.getOrDefault(decoder.workers().endpoint().namespace(), List.of()).stream()
        .filter(set -> set.workers().workerType().equals(ModelCard.PREFILL))
        .filter(set -> Objects.equals(set.workers().tokenizer(), tokenizer))
        .filter(workers::isAnyLive)
        .map(set -> new PrefillSet(set.workers(), set.card(), set.rendezvous()))
        .findFirst();
  }

  /** Returns the model's readiness. */
  Readiness readiness(LiveWorkers workers) {
    var states = new ArrayList<Readiness.Namespace>();
    namespaces.forEach(
        (name, sets) ->
            states.add(
                new Readiness.Namespace(
                    name, problem(sets, workers), types(sets, workers), missing(sets, workers))));
    return new Readiness(states);
  }

  /** Returns why the workers of a namespace cannot take requests; null when they can. */
  private static @Nullable String problem(List<CatalogEntry> sets, LiveWorkers workers) {
    var live = new ArrayList<CatalogEntry>(sets.size());
    boolean legacy = false;
    for (var set : sets) {
      legacy |= set.isLegacy();
      if (workers.isAnyLive(set)) {
        live.add(set);
      }
    }
    if (live.isEmpty()) {
      return "no worker is live";
    }
    var problem = legacy ? null : topologyProblem(sets, live);
    if (problem != null) {
      return problem;
    }
    if (live.stream().anyMatch(set -> set.served() != null)) {
      return null;
    }
    return live.stream().anyMatch(CatalogEntry::answersClients)
        ? "the model is being loaded"
        : "no live worker answers clients";
  }

  private static @Nullable String topologyProblem(
      List<CatalogEntry> sets, List<CatalogEntry> live) {
    var types = types(live);
    for (var set : sets) {
      if (!types.contains(set.workers().workerType())) {
        return "no worker of type %s is live".formatted(set.workers().workerType());
      }
    }
    for (var set : live) {
      if (!isSatisfied(set, types)) {
        return "workers of type %s need one of %s beside them"
            .formatted(set.workers().workerType(), set.card().needs());
      }
    }
    for (int i = 0; i < live.size(); i++) {
      var set = live.get(i).workers();
      for (int j = 0; j < i && !set.workerType().equals(ModelCard.AGGREGATED); j++) {
        var other = live.get(j).workers();
        if (set.workerType().equals(other.workerType()) && !set.competesWith(other)) {
          return "workers of type %s are at %s and at %s; which belong to the others is ambiguous"
              .formatted(set.workerType(), other.endpoint(), set.endpoint());
        }
      }
    }
    return null;
  }

  private static Set<String> types(List<CatalogEntry> sets) {
    var types = new LinkedHashSet<String>();
    sets.forEach(set -> types.add(set.workers().workerType()));
    return types;
  }

  /** Whether one of the alternatives that {@code set} needs is among {@code types}. */
  private static boolean isSatisfied(CatalogEntry set, Set<String> types) {
    var needs = set.card().needs();
    return needs.isEmpty() || needs.stream().anyMatch(types::containsAll);
  }

  private static List<Readiness.WorkerType> types(List<CatalogEntry> sets, LiveWorkers workers) {
    var types = new LinkedHashMap<String, Readiness.WorkerType>();
    for (var set : sets) {
      types.merge(
          set.workers().workerType(),
          new Readiness.WorkerType(
              set.workers().workerType(), workers.live(set), set.card().needs()),
          (one, more) ->
              new Readiness.WorkerType(one.name(), one.workers() + more.workers(), one.needs()));
    }
    return List.copyOf(types.values());
  }

  /**
   * Returns the types that have a card and no live worker, and the types that live workers need and
   * do not have.
   */
  private static List<String> missing(List<CatalogEntry> sets, LiveWorkers workers) {
    var live = types(sets.stream().filter(workers::isAnyLive).toList());
    var missing = new TreeSet<>(types(sets));
    for (var set : sets) {
      if (live.contains(set.workers().workerType()) && !isSatisfied(set, live)) {
        missing.addAll(set.card().needs().getFirst());
      }
    }
    missing.removeAll(live);
    return List.copyOf(missing);
  }
}
