package io.dynamo.router;

import io.dynamo.config.RouterCard;
import io.dynamo.config.RouterSettings;
import io.dynamo.discovery.EndpointId;
import io.dynamo.error.OverloadedException;
import io.dynamo.kv.WorkerRank;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.MetricName;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.RouterMetrics;
import io.dynamo.router.ingest.EventFeed;
import io.dynamo.router.ingest.LoadIntake;
import io.dynamo.router.ingest.Replicas;
import io.dynamo.router.load.ActiveSequences;
import io.dynamo.router.load.BusyWorkers;
import io.dynamo.router.load.ReportedLoads;
import io.dynamo.router.queue.AdmissionQueue;
import io.dynamo.router.queue.PolicyFile;
import io.dynamo.router.queue.PolicyProfile;
import io.dynamo.router.queue.QueueMeters;
import io.dynamo.router.select.RankSelector;
import io.dynamo.router.select.Spread;
import io.dynamo.router.session.SessionReplicas;
import io.dynamo.router.session.SessionTable;
import io.dynamo.runtime.EndpointInstances;
import io.dynamo.token.TrackingKey;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.DoubleSupplier;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The router of a server: an {@link EndpointRouter} for each endpoint, made when it is first asked
 * for and closed with this. Safe for concurrent use.
 */
public final class EndpointRouters
    implements KvRouter, BusyControl, BookedLoads, QueueDepths, RouteExplanations, AutoCloseable {
  private static final System.Logger LOG = System.getLogger(EndpointRouters.class.getName());

  /**
   * A router and what it was made by.
   *
   * @param decisions counts them
   */
  private record Running(
      EndpointProfile profile, EndpointRouter router, Metrics.Counter decisions) {}

  private final RouterSettings settings;
  private final Function<EndpointId, EndpointInstances> instances;
  private final WorkerCards cards;
  private final EventFeed feed;
  private final Metrics metrics;
  private final LongSupplier nanoClock;
  private final LongSupplier wallNanos;
  private final @Nullable TrackingKey ownKey; // null names blocks openly
  private final @Nullable PolicyFile policies; // null has one class of requests
  private final DoubleSupplier random;
  private final RequestMeters meters;
  private final OverheadMeters overhead;
  private final DecisionLog explanations;
  private final Metrics.Timer decisionTime;
  private final Map<EndpointId, Running> routers = new ConcurrentHashMap<>();
  private boolean closed; // guarded by this

  /**
   * @param routerId a label of what it measures
   * @param random uniform in [0, 1); safe for concurrent use
   * @param nanoClock as {@link System#nanoTime()}
   * @param wallNanos nanoseconds since 1970, to tell other routers when something was settled
   */
  public EndpointRouters(
      String routerId,
      RouterSettings settings,
      Function<EndpointId, EndpointInstances> instances,
      WorkerCards cards,
      EventFeed feed,
      Metrics metrics,
      DoubleSupplier random,
      LongSupplier nanoClock,
      LongSupplier wallNanos) {
    this.settings = settings;
    this.instances = instances;
    this.cards = cards;
    this.ownKey = key(settings);
    var file = settings.queueing().policies();
    this.policies = file == null ? null : PolicyFile.read(file);
    this.feed = feed;
    this.metrics = metrics;
    this.nanoClock = nanoClock;
    this.wallNanos = wallNanos;
    this.random = random;
    this.meters = new RequestMeters(metrics);
    this.overhead = new OverheadMeters(metrics, routerId);
    this.explanations = new DecisionLog(settings.explaining());
    this.decisionTime = metrics.timer(RouterMetrics.DECISION_SECONDS);
  }

  @Override
  public RouteDecision route(RouteRequest request) {
    long begin = nanoClock.getAsLong();
    while (true) {
      var running = running(request.endpoint());
      try {
        var decision = running.router().route(request);
        running.decisions().increment();
        decisionTime.record(nanoClock.getAsLong() - begin);
        return decision;
      } catch (OverloadedException e) {
        if (!isReplaced(request.endpoint(), running)) {
          throw e;
        }
      }
    }
  }

  private synchronized boolean isReplaced(EndpointId endpoint, Running running) {
    var now = routers.get(endpoint);
    return !closed && (now == null || !now.router().equals(running.router()));
  }

  /**
   * Begins to listen to the events of {@code endpoint}, so that its first request finds an index
   * that knows what happened before. Where its cards ask for another routing than it has, it begins
   * anew: what waits is placed by the new one, what is placed already no longer counts as load.
   * Does nothing once closed.
   */
  public synchronized void prepare(EndpointId endpoint) {
    if (closed) {
      return;
    }
    var before = routers.get(endpoint);
    if (before == null || !before.profile().equals(cards.profile(endpoint))) {
      routers.put(endpoint, start(endpoint));
      if (before != null) {
        before.router().close();
      }
    }
  }

  private Running running(EndpointId endpoint) {
    var known = routers.get(endpoint);
    if (known != null) {
      return known;
    }
    synchronized (this) {
      if (closed) {
        throw new IllegalStateException("the router is closed");
      }
      return routers.computeIfAbsent(endpoint, this::start);
    }
  }

  private Running start(EndpointId endpoint) {
    var profile = cards.profile(endpoint);
    var asked = asked(endpoint, profile);
    var mode = new Label("mode", asked.mode().name().toLowerCase(Locale.ROOT));
    return new Running(
        profile,
        newRouter(endpoint, profile, asked),
        metrics.counter(RouterMetrics.DECISIONS, mode));
  }

  /** What the workers' cards ask for, and otherwise this router's own settings. */
  private RouterSettings asked(EndpointId endpoint, EndpointProfile profile) {
    if (profile.routing().isEmpty()) {
      return settings;
    }
    var reading = RouterCard.read(profile.routing(), settings);
    LOG.log(
        Level.INFO,
        "the workers of {0} ask for mode {1}; their model card counts",
        endpoint,
        reading.settings().mode());
    if (!reading.ignored().isEmpty()) {
      LOG.log(
          Level.WARNING,
          "of the routing that the model card of {0} asks for, this does not count: {1}",
          endpoint,
          String.join("; ", reading.ignored()));
    }
    return reading.settings();
  }

  private static @Nullable TrackingKey key(RouterSettings settings) {
    var file = settings.tracking().key();
    return file == null ? null : TrackingKey.read(file.file(), file.id());
  }

  /** A secret that cannot be read is replaced by one that nobody shares: nothing is disclosed. */
  private @Nullable TrackingKey key(EndpointId endpoint, RouterSettings asked) {
    if (Objects.equals(asked.tracking().key(), settings.tracking().key())) {
      return ownKey;
    }
    try {
      return key(asked);
    } catch (IllegalArgumentException e) {
      LOG.log(
          Level.WARNING,
          "the routers of {0} will not know each other''s blocks: {1}",
          endpoint,
          e.getMessage());
      return TrackingKey.random();
    }
  }

  private EndpointRouter newRouter(
      EndpointId endpoint, EndpointProfile profile, RouterSettings settings) {
    var workers = instances.apply(endpoint);
    var label = new Label("endpoint", endpoint.toString());
    var load = new ActiveSequences(settings.tracking().expiry(), nanoClock);
    var reported = new ReportedLoads(settings.tracking().expiry(), nanoClock);
    gauge(RouterMetrics.ACTIVE_REQUESTS, endpoint, EndpointRouter::active);
    metrics.gauge(RouterMetrics.WORKERS, () -> workers.live().size(), label);
    var busy = new BusyWorkers(settings.busy(), reported, load);
    var strategy = strategy(endpoint, profile, settings, workers);
    if (settings.mode() == RouterSettings.Mode.KV) {
      gauge(RouterMetrics.INDEX_BLOCKS, endpoint, EndpointRouter::indexBlocks);
      gauge(RouterMetrics.ROOM_LEASES, endpoint, EndpointRouter::holds);
    }
    var reports =
        new WantedReports(
            () -> {
              metrics.gauge(RouterMetrics.REPORTED_USED_BLOCKS, reported::usedBlocks, label);
              return new LoadIntake(endpoint, workers, reported, feed.plane(), metrics)::close;
            });
    if (settings.mode() == RouterSettings.Mode.KV || busy.isOn()) {
      reports.want();
    }
    var replicas =
        settings.mode() == RouterSettings.Mode.KV
            ? new Replicas(
                endpoint,
                feed.discovery().instanceId(),
                settings.tracking().replicaSync(),
                load,
                workers,
                feed.plane(),
                feed.executor(),
                metrics)
            : null;
    var eligibility = new Eligibility(workers, cards::traits, busy);
    return new EndpointRouter(
        endpoint,
        settings,
        workers,
        new EndpointRouter.Parts(
            eligibility,
            load,
            replicas,
            queue(name(endpoint, profile), settings.queueing(), workers),
            strategy,
            affinity(endpoint, settings, workers, eligibility),
            meters,
            overhead,
            explanations,
            nanoClock,
            reports));
  }

  @Override
  public RouterSettings.Busy thresholds(EndpointId endpoint) {
    var known = routers.get(endpoint);
    return known == null ? settings.busy() : known.router().thresholds();
  }

  @Override
  public void setThresholds(EndpointId endpoint, RouterSettings.Busy thresholds) {
    running(endpoint).router().setThresholds(thresholds);
  }

  @Override
  public int blocks(EndpointId endpoint, WorkerRank rank) {
    var known = routers.get(endpoint);
    return known == null ? 0 : known.router().blocks(rank);
  }

  @Override
  public long prefillTokens(EndpointId endpoint, WorkerRank rank) {
    var known = routers.get(endpoint);
    return known == null ? 0 : known.router().prefillTokens(rank);
  }

  @Override
  public boolean allBusy(EndpointId endpoint) {
    var known = routers.get(endpoint);
    return known != null && known.router().allBusy();
  }

  /** What an endpoint's requests are counted under. */
  private static String name(EndpointId endpoint, EndpointProfile profile) {
    return profile.model().isEmpty() ? endpoint.toString() : profile.model();
  }

  private AdmissionQueue queue(
      String model, RouterSettings.Queueing settings, EndpointInstances workers) {
    var only = PolicyProfile.of(settings);
    return new AdmissionQueue(
        settings,
        policies == null ? only : policies.of(model, only),
        () -> workers.live().size(),
        policy -> new QueueMeters(metrics, model, policy.name()),
        nanoClock);
  }

  private @Nullable Affinity affinity(
      EndpointId endpoint,
      RouterSettings settings,
      EndpointInstances workers,
      Eligibility eligibility) {
    var ttl = settings.sessions().ttl();
    if (ttl == null) {
      return null;
    }
    var self = feed.discovery().instanceId();
    var sessions = new SessionTable(ttl, SessionTable.MAX_SESSIONS, self, nanoClock, wallNanos);
    gauge(RouterMetrics.SESSIONS, endpoint, EndpointRouter::sessions);
    var replicas =
        new SessionReplicas(
            endpoint, self, sessions, workers, feed.plane(), feed.executor(), metrics);
    return new Affinity(sessions, replicas, settings.sessions().mode(), eligibility);
  }

  /** What the endpoint's router of the moment says; a metric outlives the router. */
  private void gauge(MetricName name, EndpointId endpoint, ToIntFunction<EndpointRouter> value) {
    metrics.gauge(
        name,
        () -> {
          var running = routers.get(endpoint);
          return running == null ? 0 : value.applyAsInt(running.router());
        },
        new Label("endpoint", endpoint.toString()));
  }

  private Strategy strategy(
      EndpointId endpoint,
      EndpointProfile profile,
      RouterSettings settings,
      EndpointInstances workers) {
    return settings.mode() == RouterSettings.Mode.KV
        ? new PrefixStrategy(
            settings,
            endpoint,
            new PromptHashing(profile, key(endpoint, settings)),
            name(endpoint, profile),
            workers,
            new RankSelector(settings.costs(), random),
            feed,
            metrics,
            overhead,
            nanoClock)
        : new SpreadStrategy(new Spread(settings.mode(), settings.cudaToCpuRatio(), random));
  }

  @Override
  public int queued(EndpointId endpoint) {
    var known = routers.get(endpoint);
    return known == null ? 0 : known.router().queued();
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

  /** Stops listening. What is booked may still be freed. Idempotent. */
  @Override
  public synchronized void close() {
    closed = true;
    routers.values().forEach(running -> running.router().close());
    routers.clear();
  }
}
