package io.dynamo.frontend.catalog;

import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.ModelRecord;
import io.dynamo.frontend.postprocess.MessageGrammar;
import io.dynamo.frontend.preprocess.ModelText;
import io.dynamo.model.ModelCard;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BiPredicate;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Follows the model cards in discovery. All changes happen under one lock, files are read outside
 * of it on the given executor; readers see a snapshot.
 *
 * <p>Workers of one model share one text side. It outlives them by the retention, because a request
 * may still use it; the number of texts is bounded. The first card of a name sets what the name
 * means; a card that differs waits until the last worker with the first one is gone.
 */
public final class DiscoveryCatalog implements ModelCatalog, AutoCloseable {
  private static final System.Logger LOG = System.getLogger(DiscoveryCatalog.class.getName());
  private static final Duration FIRST_RETRY = Duration.ofSeconds(1);
  private static final Duration LAST_RETRY = Duration.ofSeconds(30);
  private static final int MAX_TEXTS = 256;
  private static final long REMEMBERED_NANOS =
      Duration.ofSeconds(30).toNanos(); // a name without a worker

  /** What makes two cards the same model. */
  private record Identity(
      EndpointId endpoint, @Nullable String tokenizer, @Nullable String template, int blockTokens) {
    static Identity of(ModelRecord record) {
      var card = record.card();
      return new Identity(
          record.endpoint(),
          card.tokenizer() == null ? null : card.tokenizer().checksum(),
          card.chatTemplate() == null ? null : card.chatTemplate().checksum(),
          card.blockTokens());
    }
  }

  /** The workers of one name that agree on what it is. */
  private static final class Group {
    final LinkedHashMap<String, ModelRecord> records =
        new LinkedHashMap<>(); // by key, in order of arrival
    final long createdAtSeconds;
    boolean loading;
    private int attempts;
    @Nullable ServedModel served;

    Group(long createdAtSeconds) {
      this.createdAtSeconds = createdAtSeconds;
    }

    void say(ModelCard card) {
      var before = served;
      if (before != null) {
        served = new ServedModel(card, before.endpoint(), before.text(), createdAtSeconds);
      }
    }

    /** The worker whose files the next load reads: each in turn, in case one is out of reach. */
    ModelRecord next() {
      var turn = List.copyOf(records.values());
      return turn.get(attempts++ % turn.size());
    }
  }

  private final TextLoader loader;
  private final Predicate<EndpointId> serves;
  private final BiPredicate<EndpointId, InstanceId> isLive;
  private final ExecutorService blocking;
  private final ScheduledExecutorService timer;
  private final InstantSource clock;
  private final LongSupplier nanoTime;
  private final Discovery.Handle watch;

  private final Map<String, LinkedHashMap<Identity, Group>> names =
      new HashMap<>(); // guarded by this
  private final TextShelf<Identity> texts; // guarded by this
  private final Duration retention;
  private boolean sweepDue; // guarded by this
  private final Map<String, Long> lately =
      new ConcurrentHashMap<>(); // when a name was lost, in nanos
  private boolean closed; // guarded by this
  private volatile Map<String, Candidates> snapshot = Map.of(); // replaced whole

  /** The group that answers for a name, and the instances that may be live. */
  private record Candidates(
      @Nullable ServedModel served,
      ModelCard card,
      EndpointId endpoint,
      List<InstanceId> workers) {}

  /**
   * @param serves whether models of an endpoint are shown
   * @param isLive whether an instance of an endpoint can be called now
   * @param blocking runs loads
   * @param timer starts loads again after a failure
   * @param clock of the times that clients are told
   * @param nanoTime as {@link System#nanoTime()}
   * @param retention how long a text outlives its models: longer than any request
   */
  public DiscoveryCatalog(
      Discovery discovery,
      TextLoader loader,
      Predicate<EndpointId> serves,
      BiPredicate<EndpointId, InstanceId> isLive,
      ExecutorService blocking,
      ScheduledExecutorService timer,
      InstantSource clock,
      LongSupplier nanoTime,
      Duration retention) {
    this.texts = new TextShelf<>(MAX_TEXTS, retention, nanoTime);
    this.nanoTime = nanoTime;
    this.retention = retention;
    this.loader = loader;
    this.serves = serves;
    this.isLive = isLive;
    this.blocking = blocking;
    this.timer = timer;
    this.clock = clock;
    this.watch = discovery.watch(ModelRecord.class, this::onEvent);
  }

  @Override
  public List<ServedModel> models() {
    var ready = new ArrayList<ServedModel>();
    snapshot.forEach(
        (name, candidates) -> {
          if (candidates.served != null
              && name.equals(candidates.served.name()) // and not an alias of it
              && anyLive(candidates)) {
            ready.add(candidates.served);
          }
        });
    ready.sort(Comparator.comparing(ServedModel::name));
    return ready;
  }

  @Override
  public Optional<ServedModel> find(String name) {
    var candidates = snapshot.get(name);
    return candidates != null && candidates.served != null && anyLive(candidates)
        ? Optional.of(candidates.served)
        : Optional.empty();
  }

  /**
   * A name whose last worker went a moment ago is known still: it may be draining or restarting.
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
    var candidates = snapshot.get(name);
    if (candidates == null) {
      return Optional.empty();
    }
    int live = 0;
    for (var worker : candidates.workers) {
      live += isLive.test(candidates.endpoint, worker) ? 1 : 0;
    }
    var type = candidates.card.workerType();
    return Optional.of(
        new Readiness(
            candidates.endpoint.namespace(),
            type == null ? "aggregated" : type,
            live,
            candidates.card.needs(),
            live > 0 && candidates.served != null));
  }

  private boolean anyLive(Candidates candidates) {
    for (var worker : candidates.workers) {
      if (isLive.test(candidates.endpoint, worker)) {
        return true;
      }
    }
    return false;
  }

  private synchronized void onEvent(DiscoveryEvent<ModelRecord> event) {
    if (!serves.test(event.record().endpoint())) {
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

  /** Lets go of texts that nobody uses. Called with the lock held. */
  private void sweep() {
    var used = new HashSet<Identity>();
    names.values().forEach(groups -> used.addAll(groups.keySet()));
    texts.sweep(used).forEach(ModelText::close);
    if (!sweepDue && !closed && texts.hasUnused()) {
      sweepDue = true;
      var _ = timer.schedule(this::sweepAgain, retention.toMillis() + 1, TimeUnit.MILLISECONDS);
    }
  }

  private synchronized void sweepAgain() {
    sweepDue = false;
    if (!closed) {
      sweep();
    }
  }

  private void refuse(ModelRecord record, String problem) {
    remove(record); // it may have been one that is served
    LOG.log(
        record.card().modelTypes().isEmpty()
            ? System.Logger.Level.DEBUG // workers of one half of a pair have none
            : System.Logger.Level.WARNING,
        "model {0} is not listed, by the card of {1}: {2}",
        record.card().displayName(),
        record.key(),
        problem);
  }

  private void add(ModelRecord record) {
    var name = record.card().displayName();
    var known = find(name, Identity.of(record));
    if (known != null && known.records.replace(record.key(), record) != null) {
      known.say(record.card()); // the same model, of which the worker says something else
      return;
    }
    remove(record);
    var groups = names.computeIfAbsent(name, _ -> new LinkedHashMap<>());
    var identity = Identity.of(record);
    if (!groups.isEmpty() && !groups.containsKey(identity)) {
      LOG.log(
          System.Logger.Level.WARNING,
          "model {0}: the card of {1} differs from the one that is served; it waits until the other"
              + " workers are gone",
          name,
          record.key());
    }
    var group = groups.computeIfAbsent(identity, _ -> new Group(clock.instant().getEpochSecond()));
    group.records.put(record.key(), record);
    load(name, identity, FIRST_RETRY);
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

  /** Starts loading a group's text unless it is there or on its way. Called with the lock held. */
  private void load(String name, Identity identity, Duration retryAfter) {
    var group = find(name, identity);
    if (closed || group == null || group.served != null || group.loading) {
      return;
    }
    var record = group.next();
    var known = texts.find(identity);
    if (known != null) {
      group.served =
          new ServedModel(record.card(), identity.endpoint(), known, group.createdAtSeconds);
      return;
    }
    group.loading = true;
    if (!texts.reserve()) {
      retryLater(
          name,
          identity,
          LAST_RETRY,
          "%d models are loaded, as many as a frontend holds".formatted(MAX_TEXTS));
      return;
    }
    blocking.execute(() -> loadNow(name, identity, record, retryAfter));
  }

  private @Nullable Group find(String name, Identity identity) {
    var groups = names.get(name);
    return groups == null ? null : groups.get(identity);
  }

  private void loadNow(String name, Identity identity, ModelRecord record, Duration retryAfter) {
    ModelText text;
    try {
      text = loader.load(record.card());
    } catch (IOException | RuntimeException | Error e) {
      synchronized (this) {
        texts.endLoad();
        retryLater(name, identity, retryAfter, e.getMessage());
      }
      return;
    }
    loaded(name, identity, record.card(), text);
    for (var problem : MessageGrammar.of(record.card().runtimeConfig()).problems()) {
      LOG.log(System.Logger.Level.WARNING, "the card of model {0} has an {1}", name, problem);
    }
  }

  /** Called with the lock held. */
  private void retryLater(
      String name, Identity identity, Duration retryAfter, @Nullable String why) {
    LOG.log(
        System.Logger.Level.WARNING,
        "model %s cannot be served yet, tried again in %d s: %s"
            .formatted(name, retryAfter.toSeconds(), why));
    var group = find(name, identity);
    if (group != null) {
      group.loading = false;
    }
    if (!closed) {
      var next =
          retryAfter.multipliedBy(2).compareTo(LAST_RETRY) < 0
              ? retryAfter.multipliedBy(2)
              : LAST_RETRY;
      var _ =
          timer.schedule(
              () -> again(name, identity, next), retryAfter.toMillis(), TimeUnit.MILLISECONDS);
    }
  }

  private synchronized void again(String name, Identity identity, Duration retryAfter) {
    load(name, identity, retryAfter);
    publish(); // its text may have come with another name
  }

  private void loaded(String name, Identity identity, ModelCard card, ModelText text) {
    synchronized (this) {
      texts.endLoad();
      var group = find(name, identity);
      if (!closed && group != null) {
        var faster = texts.put(identity, text); // by another name, or before a flap
        var shared = faster == null ? text : faster;
        group.loading = false;
        group.served = new ServedModel(card, identity.endpoint(), shared, group.createdAtSeconds);
        publish();
        LOG.log(System.Logger.Level.INFO, "model {0} is served by {1}", name, identity.endpoint());
        if (faster == null) {
          return;
        }
      }
    }
    text.close();
  }

  /** Replaces the snapshot. Called with the lock held. */
  private void publish() {
    var next = new TreeMap<String, Candidates>();
    names.forEach(
        (name, groups) -> {
          var identity = groups.firstEntry().getKey();
          var group = groups.firstEntry().getValue();
          next.put(
              name,
              new Candidates(
                  group.served,
                  group.records.firstEntry().getValue().card(),
                  identity.endpoint(),
                  group.records.values().stream().map(ModelRecord::id).toList()));
        });
    ServableCards.addAliases(next, Candidates::card);
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
