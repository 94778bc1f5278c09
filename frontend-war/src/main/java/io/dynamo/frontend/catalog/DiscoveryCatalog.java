package io.dynamo.frontend.catalog;

import io.dynamo.concurrent.Execution;
import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.ModelRecord;
import io.dynamo.discovery.WorkerSet;
import io.dynamo.frontend.postprocess.MessageGrammar;
import io.dynamo.frontend.postprocess.structure.StructuralTags;
import io.dynamo.frontend.preprocess.ModelText;
import io.dynamo.frontend.preprocess.TextlessModel;
import io.dynamo.model.ModelCard;
import io.dynamo.runtime.EndpointInstances;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.DoubleSupplier;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The catalog of the model cards in discovery. All changes happen under one lock, files are read
 * outside of it on the given executor; readers see a snapshot.
 *
 * <p>The workers of a model are grouped by {@link WorkerSet}; several sets may serve one name, and
 * {@link ModelEntry} decides which of them take requests. Sets with the same files share one text.
 * It outlives them by the retention, because a request may still use it; the number of texts is
 * bounded.
 */
public final class DiscoveryCatalog implements ModelCatalog, AutoCloseable {
  private static final System.Logger LOG = System.getLogger(DiscoveryCatalog.class.getName());
  private static final Duration FIRST_RETRY = Duration.ofSeconds(1);
  private static final Duration LAST_RETRY = Duration.ofSeconds(30);
  private static final int MAX_TEXTS = 256;
  private static final long REMEMBERED_NANOS =
      Duration.ofSeconds(30).toNanos(); // a name without a worker

  private final TextLoader loader;
  private final Scope scope;
  private final LiveWorkers workers;
  private final SetChoice choice;
  private final Execution execution;
  private final LongSupplier nanoTime;
  private final Discovery.Handle watch;

  private final Map<String, LinkedHashMap<WorkerSet, CardGroup>> names =
      new LinkedHashMap<>(); // in order of arrival, as are the groups; guarded by this
  private final TextShelf<TextFiles> texts; // guarded by this
  private boolean sweepDue; // guarded by this
  private final Map<String, Long> lately =
      new ConcurrentHashMap<>(); // when a name was lost, in nanoseconds
  private boolean closed; // guarded by this
  private volatile Map<String, ModelEntry> snapshot = Map.of(); // by name and alias, replaced whole

  /**
   * The models that are served, and how long their texts are kept.
   *
   * @param serves whether models of an endpoint are shown
   * @param retention how long a text outlives its models: longer than any request
   */
  public record Scope(Predicate<EndpointId> serves, Duration retention) {}

  /**
   * @param instances the live workers of an endpoint
   * @param allBusy whether all live workers of a set are busy; never blocks
   * @param execution its blocking threads run loads, its timer restarts them after a failure, its
   *     clock gives the creation times in answers
   * @param nanoTime as {@link System#nanoTime()}
   * @param random uniform in [0, 1), draws the sets of workers; safe for concurrent use
   */
  public DiscoveryCatalog(
      Discovery discovery,
      TextLoader loader,
      Scope scope,
      Function<EndpointId, EndpointInstances> instances,
      Predicate<WorkerSet> allBusy,
      Execution execution,
      LongSupplier nanoTime,
      DoubleSupplier random) {
    this.texts = new TextShelf<>(MAX_TEXTS, scope.retention(), nanoTime);
    this.nanoTime = nanoTime;
    this.loader = loader;
    this.scope = scope;
    this.workers = new LiveWorkers(instances, allBusy);
    this.choice = new SetChoice(workers, random);
    this.execution = execution;
    this.watch = discovery.watch(ModelRecord.class, this::onEvent);
  }

  @Override
  public List<ServedModel> models() {
    var ready = new ArrayList<ServedModel>();
    snapshot.forEach(
        (name, entry) -> {
          if (name.equals(entry.name())) { // and not an alias of it
            first(entry).ifPresent(ready::add);
          }
        });
    ready.sort(Comparator.comparing(ServedModel::name));
    return ready;
  }

  @Override
  public Optional<ServedModel> find(String name) {
    return first(snapshot.get(name));
  }

  private Optional<ServedModel> first(@Nullable ModelEntry entry) {
    var ready = ready(entry);
    for (var set : ready) {
      if (set.card().generates()) { // what embeds beside that has a card of its own
        return Optional.ofNullable(set.served());
      }
    }
    return ready.isEmpty() ? Optional.empty() : Optional.ofNullable(ready.getFirst().served());
  }

  private List<CatalogEntry> ready(@Nullable ModelEntry entry) {
    return entry == null ? List.of() : entry.ready(workers);
  }

  @Override
  public List<ServedModel> sets(String name) {
    return ready(snapshot.get(name)).stream()
        .map(CatalogEntry::served)
        .filter(Objects::nonNull)
        .toList();
  }

  @Override
  public Optional<ServedModel> choose(String name, Query query) {
    return Optional.ofNullable(choice.among(ready(snapshot.get(name)), query));
  }

  @Override
  public List<ServedModel> successors(ServedModel lost) {
    var entry = snapshot.get(lost.name());
    if (entry == null) {
      return List.of();
    }
    var fitting = new ArrayList<CatalogEntry>();
    for (var set : entry.able(workers)) {
      var model = set.served();
      if (model != null
          && !model.workers().equals(lost.workers())
          && ModelCatalog.Query.isAnyOf(lost.card().modelTypes(), model.card())
          && model.sharesTokensWith(lost)) {
        fitting.add(set);
      }
    }
    return choice.inTurn(fitting);
  }

  @Override
  public Optional<PrefillSet> prefill(ServedModel decoder) {
    if (!decoder.workers().workerType().equals(ModelCard.DECODE)) {
      return Optional.empty();
    }
    var entry = snapshot.get(decoder.name());
    return entry == null ? Optional.empty() : entry.prefill(decoder, workers);
  }

  /**
   * {@inheritDoc}
   *
   * <p>A name whose last worker left a moment ago still counts as known: the worker may be draining
   * or restarting.
   */
  @Override
  public boolean isKnown(String name) {
    if (snapshot.containsKey(name)) {
      return true;
    }
    var lost = lately.get(name);
    return lost != null && nanoTime.getAsLong() - lost < REMEMBERED_NANOS;
  }

  @Override
  public Optional<Readiness> readiness(String name) {
    return Optional.ofNullable(snapshot.get(name)).map(entry -> entry.readiness(workers));
  }

  @Override
  public SequencedMap<String, Set<String>> waiting() {
    var waiting = new TreeMap<String, Set<String>>();
    snapshot.forEach(
        (name, entry) -> {
          if (ready(entry).isEmpty()) {
            waiting.put(name, entry.modelTypes());
          }
        });
    return waiting;
  }

  private synchronized void onEvent(DiscoveryEvent<ModelRecord> event) {
    if (!scope.serves().test(event.record().endpoint())) {
      return;
    }
    switch (event) {
      case DiscoveryEvent.Added<ModelRecord> added -> {
        var problem = ServableCards.problem(added.record().card());
        if (problem == null) {
          add(added.record());
        } else {
          refuse(added.record(), problem);
        }
      }
      case DiscoveryEvent.Lost<ModelRecord> lost -> remove(lost.record());
    }
    publish();
    sweep();
  }

  /** Frees texts that are no longer used. Called with the lock held. */
  private void sweep() {
    var used = new HashSet<TextFiles>();
    for (var groups : names.values()) {
      for (var group : groups.values()) {
        if (group.files != null) {
          used.add(group.files);
        }
      }
    }
    texts.sweep(used).forEach(ModelText::close);
    if (!sweepDue && !closed && texts.hasUnused()) {
      sweepDue = true;
      var _ =
          execution
              .timer()
              .schedule(this::sweepAgain, scope.retention().toMillis() + 1, TimeUnit.MILLISECONDS);
    }
  }

  private synchronized void sweepAgain() {
    sweepDue = false;
    if (!closed) {
      sweep();
    }
  }

  private void refuse(ModelRecord record, String problem) {
    remove(record); // it may have been a served card
    LOG.log(
        record.card().modelTypes().isEmpty()
            ? System.Logger.Level.DEBUG // workers that help others have none
            : System.Logger.Level.WARNING,
        "model {0} is not listed, by the card of {1}: {2}",
        record.card().displayName(),
        record.key(),
        problem);
  }

  private void add(ModelRecord record) {
    var name = record.card().displayName();
    var workers = WorkerSet.of(record);
    var known = find(name, workers);
    if (known != null && known.records.replace(record.key(), record) != null) {
      var served = known.served;
      if (served != null) { // the same model, but the worker's card differs elsewhere
        known.serve(record.card(), known.files, served.text());
      }
      return;
    }
    remove(record);
    var groups = names.computeIfAbsent(name, _ -> new LinkedHashMap<>());
    CardConflicts.report(record, groups.keySet(), snapshot);
    var group =
        groups.computeIfAbsent(
            workers, _ -> new CardGroup(workers, execution.clock().instant().getEpochSecond()));
    group.records.put(record.key(), record);
    var served = group.served;
    if (served != null && !closed) {
      SampleCheck.start(List.of(record), served.text(), execution.blocking());
    }
    load(name, workers, FIRST_RETRY);
  }

  private void remove(ModelRecord record) {
    var name = record.card().displayName();
    var groups = names.get(name);
    if (groups == null) {
      return;
    }
    var gone = new HashSet<>(Set.of(name));
    for (var group : groups.values()) {
      var card = group.records.remove(record.key());
      if (card != null) {
        gone.addAll(card.card().aliases());
      }
    }
    groups.values().removeIf(group -> group.records.isEmpty());
    if (groups.isEmpty()) {
      names.remove(name);
      long now = nanoTime.getAsLong();
      lately.values().removeIf(lost -> now - lost > REMEMBERED_NANOS);
      gone.forEach(lost -> lately.put(lost, now));
    }
  }

  /**
   * Starts loading a group's text unless it is loaded or being loaded. Called with the lock held.
   */
  private void load(String name, WorkerSet workers, Duration retryAfter) {
    var group = find(name, workers);
    if (closed
        || group == null
        || group.served != null
        || group.loading
        || !ServableCards.answersClients(group.card())) {
      return;
    }
    var record = group.next();
    if (record.card().takesBodies() || record.card().takesTensors()) {
      group.serve(record.card(), null, TextlessModel.INSTANCE);
      return;
    }
    var files = TextFiles.of(record.card());
    group.files = files;
    var known = texts.find(files);
    if (known != null) {
      group.serve(record.card(), files, known);
      SampleCheck.start(group.records.values(), known, execution.blocking());
      return;
    }
    group.loading = true;
    if (!texts.reserve()) {
      retryLater(
          name,
          workers,
          LAST_RETRY,
          "%d models are loaded, as many as a frontend holds".formatted(MAX_TEXTS));
      return;
    }
    execution.blocking().execute(() -> loadNow(name, workers, record, files, retryAfter));
  }

  private @Nullable CardGroup find(String name, WorkerSet workers) {
    var groups = names.get(name);
    return groups == null ? null : groups.get(workers);
  }

  private void loadNow(
      String name, WorkerSet workers, ModelRecord record, TextFiles files, Duration retryAfter) {
    ModelText text;
    try {
      text = loader.load(record.card());
    } catch (IOException | RuntimeException | Error e) {
      synchronized (this) {
        texts.endLoad();
        retryLater(name, workers, retryAfter, e.getMessage());
      }
      return;
    }
    loaded(name, workers, record.card(), files, text);
    for (var problem : MessageGrammar.of(record.card().runtimeConfig()).problems()) {
      LOG.log(System.Logger.Level.WARNING, "the card of model {0} has an {1}", name, problem);
    }
    StructuralTags.of(record.card().runtimeConfig())
        .problem()
        .ifPresent(
            problem -> LOG.log(System.Logger.Level.WARNING, "model {0}: {1}", name, problem));
  }

  /** Schedules another load after a failure. Called with the lock held. */
  private void retryLater(
      String name, WorkerSet workers, Duration retryAfter, @Nullable String why) {
    LOG.log(
        System.Logger.Level.WARNING,
        "model %s cannot be served yet, tried again in %d s: %s"
            .formatted(name, retryAfter.toSeconds(), why));
    var group = find(name, workers);
    if (group != null) {
      group.loading = false;
    }
    if (!closed) {
      var next =
          retryAfter.multipliedBy(2).compareTo(LAST_RETRY) < 0
              ? retryAfter.multipliedBy(2)
              : LAST_RETRY;
      var _ =
          execution
              .timer()
              .schedule(
                  () -> again(name, workers, next), retryAfter.toMillis(), TimeUnit.MILLISECONDS);
    }
  }

  private synchronized void again(String name, WorkerSet workers, Duration retryAfter) {
    load(name, workers, retryAfter);
    publish(); // its text may have been loaded for another name
  }

  private void loaded(
      String name, WorkerSet workers, ModelCard card, TextFiles files, ModelText text) {
    synchronized (this) {
      texts.endLoad();
      var group = find(name, workers);
      if (!closed && group != null) {
        var faster = texts.put(files, text); // for another set, or before a flap
        group.loading = false;
        var used = faster == null ? text : faster;
        group.serve(card, files, used);
        publish();
        SampleCheck.start(group.records.values(), used, execution.blocking());
        LOG.log(System.Logger.Level.INFO, "model {0} is served by {1}", name, workers.endpoint());
        if (faster == null) {
          return;
        }
      }
    }
    text.close();
  }

  /** Replaces the snapshot. Called with the lock held. */
  private void publish() {
    var sets = new LinkedHashMap<String, List<CatalogEntry>>();
    names.forEach(
        (name, groups) ->
            sets.put(
                name, new ArrayList<>(groups.values().stream().map(CardGroup::entry).toList())));
    AdapterHelpers.addTo(sets);
    var next = new LinkedHashMap<String, ModelEntry>();
    sets.forEach((name, entries) -> next.put(name, new ModelEntry(name, entries)));
    ServableCards.addAliases(next, ModelEntry::aliases);
    snapshot = Map.copyOf(next);
  }

  /** Stops following and frees every text. Requests must have ended. Idempotent. */
  @Override
  public void close() {
    watch.close();
    List<ModelText> open;
    synchronized (this) {
      closed = true;
      open = texts.clear();
      names.clear();
      snapshot = Map.of();
    }
    open.forEach(ModelText::close);
  }
}
