package io.dynamo.router.endpoint;

import io.dynamo.config.router.RouterSettings;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.WorkerSet;
import io.dynamo.error.DynamoException;
import io.dynamo.error.NoWorkerException;
import io.dynamo.error.OverloadedException;
import io.dynamo.kv.WorkerRank;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.RouterMetrics;
import io.dynamo.router.BookedLoads;
import io.dynamo.router.KvRouter;
import io.dynamo.router.LocalPrefill;
import io.dynamo.router.QueueDepths;
import io.dynamo.router.RankReports;
import io.dynamo.router.RouteDecision;
import io.dynamo.router.RouteExplanation;
import io.dynamo.router.RouteExplanations;
import io.dynamo.router.RouteRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The router of a server: an {@link EndpointRouter} for each set of workers, made at the first
 * request or when a card of the set appears, and closed when no card of the set is left, or with
 * this router. Models that share an endpoint share no router: neither candidates nor indexes,
 * loads, queues or sessions. Safe for concurrent use.
 */
public final class EndpointRouters
    implements KvRouter,
        LocalPrefill,
        BookedLoads,
        RankReports,
        QueueDepths,
        RouteExplanations,
        AutoCloseable {
  /**
   * A router and the profile that it was made by.
   *
   * @param decisions counts the router's decisions
   */
  private record Running(
      EndpointProfile profile, EndpointRouter router, Metrics.Counter decisions) {}

  private final RouterSettings settings;
  private final WorkerCards cards;
  private final Metrics metrics;
  private final LongSupplier nanoClock;
  private final RouterAssembly assembly;
  private final DecisionLog explanations;
  private final Map<EndpointId, Metrics.Counter> started = new ConcurrentHashMap<>();
  private final Metrics.Timer decisionTime;
  private final Map<WorkerSet, Running> routers = new ConcurrentHashMap<>(); // written under this
  private final Map<String, RouterSettings.Busy> thresholdsByHand =
      new ConcurrentHashMap<>(); // by place
  private boolean closed; // guarded by this

  /**
   * Creates a router without worker sets.
   *
   * @param routerId a label of the router's metrics
   */
  public EndpointRouters(
      String routerId,
      RouterSettings settings,
      RouterInputs inputs,
      Metrics metrics,
      RouterClock clock) {
    this.settings = settings;
    this.cards = inputs.cards();
    this.metrics = metrics;
    this.nanoClock = clock.nanos();
    this.explanations = new DecisionLog(settings.explaining());
    this.decisionTime = metrics.timer(RouterMetrics.DECISION_SECONDS);
    this.assembly =
        new RouterAssembly(
            new RouterAssembly.Server(routerId, settings, metrics, clock),
            inputs,
            explanations,
            this::at);
  }

  private @Nullable EndpointRouter known(WorkerSet requested) {
    var running = routers.get(requested);
    if (running == null) {
      var set = cards.serving(requested);
      running = set == null ? null : routers.get(set);
    }
    return running == null ? null : running.router();
  }

  private List<EndpointRouter> at(EndpointId endpoint) {
    var found = new ArrayList<EndpointRouter>();
    routers.forEach(
        (set, running) -> {
          if (set.endpoint().equals(endpoint)) {
            found.add(running.router());
          }
        });
    return found;
  }

  @Override
  public RouteDecision route(RouteRequest request) {
    long begin = nanoClock.getAsLong();
    started.computeIfAbsent(request.endpoint(), assembly::started).increment();
    while (true) {
      var running = running(request.workers());
      try {
        var decision = running.router().route(request);
        running.decisions().increment();
        decisionTime.record(nanoClock.getAsLong() - begin);
        return decision;
      } catch (OverloadedException | NoWorkerException e) {
        checkReplaced(running, e);
      }
    }
  }

  @Override
  public @Nullable WorkerRank localPrefill(RouteRequest decode, RouteRequest prefill) {
    try {
      var decoders = running(decode.workers()).router();
      var rule = decoders.localPrefill();
      if (!rule.isOn()) {
        return null;
      }
      var preview = decoders.preview(decode);
      return rule.computesLocally(decode.tokenIds().length, preview, () -> previewOrNull(prefill))
          ? preview.rank()
          : null;
    } catch (DynamoException _) {
      return null; // the request itself is refused for that reason, if it still holds then
    }
  }

  private @Nullable LoadPreview previewOrNull(RouteRequest request) {
    try {
      return running(request.workers()).router().preview(request);
    } catch (DynamoException _) {
      return null;
    }
  }

  /** Rethrows the refusal, unless it came from a router that another one has replaced. */
  private synchronized void checkReplaced(Running running, DynamoException refusal) {
    if (closed || routers.containsValue(running)) {
      throw refusal;
    }
  }

  /**
   * Starts to follow the events of the workers of {@code endpoint}, so that the first request of
   * each set finds an index that already has the earlier events. A set whose cards now have another
   * profile gets a new router: the new one places the waiting requests, and placed ones no longer
   * count as load. Closes the routers of sets without a card. Does nothing once closed.
   */
  public synchronized void prepare(EndpointId endpoint) {
    if (closed) {
      return;
    }
    var served = cards.sets(endpoint);
    for (var set : List.copyOf(routers.keySet())) {
      if (set.endpoint().equals(endpoint) && !served.contains(set)) {
        Objects.requireNonNull(routers.remove(set)).router().close();
      }
    }
    served.forEach(this::prepare);
  }

  private void prepare(WorkerSet set) { // holds this
    var before = routers.get(set);
    if (before == null || !before.profile().equals(cards.profile(set))) {
      routers.put(set, start(set));
      if (before != null) {
        before.router().close();
      }
    } else {
      before.router().cardsChanged();
    }
  }

  /**
   * Returns the router of the set that serves {@code requested}; makes it if there is none.
   *
   * @throws NoWorkerException when no card describes a worker that serves {@code requested}
   */
  private Running running(WorkerSet requested) {
    var known = routers.get(requested);
    if (known != null) {
      return known;
    }
    synchronized (this) {
      if (closed) {
        throw new IllegalStateException("the router is closed");
      }
      var set = cards.serving(requested);
      if (set == null) {
        throw new NoWorkerException(
            "no worker serves %s now; start one or retry shortly".formatted(requested));
      }
      return routers.computeIfAbsent(set, this::start);
    }
  }

  private Running start(WorkerSet set) {
    var profile = cards.profile(set);
    var requested = assembly.settingsFor(set, profile);
    var mode = new Label("mode", requested.mode().name().toLowerCase(Locale.ROOT));
    var router = assembly.assemble(set, profile, requested);
    var byHand = thresholdsByHand.get(placeOf(set));
    if (byHand != null) {
      router.setThresholds(byHand);
    }
    return new Running(profile, router, metrics.counter(RouterMetrics.DECISIONS, mode));
  }

  /**
   * Returns the place of the workers that serve {@code requested}: the same for all sets of one
   * model in one role at one endpoint, of which only one can be right.
   */
  public String place(WorkerSet requested) {
    var set = cards.serving(requested);
    return placeOf(set == null ? requested : set);
  }

  private static String placeOf(WorkerSet set) {
    return set.endpoint() + "/" + set.workerType() + "/" + set.model();
  }

  /**
   * Returns the thresholds above which {@code workers} count as busy: those that were set last, or
   * the configured ones.
   */
  public RouterSettings.Busy thresholds(WorkerSet workers) {
    var router = known(workers);
    return router == null
        ? thresholdsByHand.getOrDefault(place(workers), settings.busy())
        : router.thresholds();
  }

  /**
   * Replaces the thresholds of the workers at a {@link #place}, and of those that come there, for
   * as long as this router lives.
   */
  public synchronized void setThresholds(String place, RouterSettings.Busy thresholds) {
    thresholdsByHand.put(place, thresholds);
    routers.forEach(
        (set, running) -> {
          if (placeOf(set).equals(place)) {
            running.router().setThresholds(thresholds);
          }
        });
  }

  @Override
  public int blocks(EndpointId endpoint, WorkerRank rank) {
    return at(endpoint).stream().mapToInt(router -> router.blocks(rank)).sum();
  }

  @Override
  public long prefillTokens(EndpointId endpoint, WorkerRank rank) {
    return at(endpoint).stream().mapToLong(router -> router.prefillTokens(rank)).sum();
  }

  @Override
  public Optional<RankReport> report(EndpointId endpoint, WorkerRank rank) {
    return at(endpoint).stream().flatMap(router -> router.report(rank).stream()).findFirst();
  }

  /** Whether {@code workers} has live workers and every one of them is busy. */
  public boolean allBusy(WorkerSet workers) {
    var router = known(workers);
    return router != null && router.allBusy();
  }

  @Override
  public int queued(WorkerSet workers) {
    var router = known(workers);
    return router == null ? 0 : router.queued();
  }

  @Override
  public Optional<RouteExplanation> of(String requestId) {
    return explanations.of(requestId);
  }

  @Override
  public List<RouteExplanation> recent(int limit) {
    return explanations.recent(limit);
  }

  @Override
  public boolean remote() {
    return explanations.remote();
  }

  /** Stops following all workers. Booked load may still be freed. Idempotent. */
  @Override
  public synchronized void close() {
    closed = true;
    routers.values().forEach(running -> running.router().close());
    routers.clear();
    assembly.close();
  }
}
