package io.dynamo.router;

import io.dynamo.config.RouterSettings;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.RouterMetrics;
import io.dynamo.router.ingest.EventFeed;
import io.dynamo.router.ingest.LoadIntake;
import io.dynamo.router.ingest.Replicas;
import io.dynamo.router.load.ActiveSequences;
import io.dynamo.router.load.BusyWorkers;
import io.dynamo.router.load.ReportedLoads;
import io.dynamo.router.queue.AdmissionQueue;
import io.dynamo.router.queue.QueueMeters;
import io.dynamo.router.select.RankSelector;
import io.dynamo.router.select.Spread;
import io.dynamo.router.session.SessionReplicas;
import io.dynamo.router.session.SessionTable;
import io.dynamo.runtime.EndpointInstances;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.DoubleSupplier;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The router of a server: an {@link EndpointRouter} for each endpoint, made when it is first asked
 * for and closed with this. Safe for concurrent use.
 */
public final class EndpointRouters implements KvRouter, RouteExplanations, AutoCloseable {
  private final RouterSettings settings;
  private final Function<EndpointId, EndpointInstances> instances;
  private final Function<Instance, WorkerTraits> traitsOf;
  private final EventFeed feed;
  private final Metrics metrics;
  private final LongSupplier nanoClock;
  private final LongSupplier wallNanos;
  private final RankSelector selector;
  private final DoubleSupplier random;
  private final RequestMeters meters;
  private final OverheadMeters overhead;
  private final DecisionLog explanations;
  private final Metrics.Counter decisions;
  private final Metrics.Timer decisionTime;
  private final Map<EndpointId, EndpointRouter> routers = new ConcurrentHashMap<>();
  private boolean closed; // guarded by this

  /**
   * @param routerId a label of what it measures
   * @param traitsOf what is known now of an instance
   * @param random uniform in [0, 1); safe for concurrent use
   * @param nanoClock as {@link System#nanoTime()}
   * @param wallNanos nanoseconds since 1970, to tell other routers when something was settled
   */
  public EndpointRouters(
      String routerId,
      RouterSettings settings,
      Function<EndpointId, EndpointInstances> instances,
      Function<Instance, WorkerTraits> traitsOf,
      EventFeed feed,
      Metrics metrics,
      DoubleSupplier random,
      LongSupplier nanoClock,
      LongSupplier wallNanos) {
    this.settings = settings;
    this.instances = instances;
    this.traitsOf = traitsOf;
    this.feed = feed;
    this.metrics = metrics;
    this.nanoClock = nanoClock;
    this.wallNanos = wallNanos;
    this.selector = new RankSelector(settings.costs(), random);
    this.random = random;
    this.meters = new RequestMeters(metrics);
    this.overhead = new OverheadMeters(metrics, routerId);
    this.explanations = new DecisionLog(settings.explaining());
    var mode = settings.mode().name().toLowerCase(Locale.ROOT);
    this.decisions = metrics.counter(RouterMetrics.DECISIONS, new Label("mode", mode));
    this.decisionTime = metrics.timer(RouterMetrics.DECISION_SECONDS);
  }

  @Override
  public RouteDecision route(RouteRequest request) {
    long begin = nanoClock.getAsLong();
    var decision = router(request.endpoint()).route(request);
    decisions.increment();
    decisionTime.record(nanoClock.getAsLong() - begin);
    return decision;
  }

  /**
   * Begins to listen to the events of {@code endpoint}, so that its first request finds an index
   * that knows what happened before. Idempotent; does nothing once closed.
   */
  public synchronized void prepare(EndpointId endpoint) {
    if (!closed) {
      router(endpoint);
    }
  }

  private EndpointRouter router(EndpointId endpoint) {
    var known = routers.get(endpoint);
    if (known != null) {
      return known;
    }
    synchronized (this) {
      if (closed) {
        throw new IllegalStateException("the router is closed");
      }
      return routers.computeIfAbsent(endpoint, this::newRouter);
    }
  }

  private EndpointRouter newRouter(EndpointId endpoint) {
    var workers = instances.apply(endpoint);
    var label = new Label("endpoint", endpoint.toString());
    var load = new ActiveSequences(settings.tracking().expiry(), nanoClock);
    var reported = new ReportedLoads(nanoClock);
    metrics.gauge(RouterMetrics.ACTIVE_REQUESTS, load::active, label);
    metrics.gauge(RouterMetrics.WORKERS, () -> workers.live().size(), label);
    var busy = new BusyWorkers(settings.busy(), reported, load);
    boolean listens = settings.mode() == RouterSettings.Mode.KV || busy.isOn();
    if (listens) {
      metrics.gauge(RouterMetrics.REPORTED_USED_BLOCKS, reported::usedBlocks, label);
    }
    var strategy = strategy(endpoint, workers);
    AutoCloseable reports =
        listens ? new LoadIntake(endpoint, workers, reported, feed.plane(), metrics) : () -> {};
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
    var eligibility = new Eligibility(workers, traitsOf, busy);
    return new EndpointRouter(
        endpoint,
        settings,
        workers,
        new EndpointRouter.Parts(
            eligibility,
            load,
            replicas,
            new AdmissionQueue(settings.queueing(), new QueueMeters(metrics, label), nanoClock),
            strategy,
            affinity(endpoint, workers, eligibility),
            meters,
            overhead,
            explanations,
            nanoClock,
            reports));
  }

  private @Nullable Affinity affinity(
      EndpointId endpoint, EndpointInstances workers, Eligibility eligibility) {
    var ttl = settings.sessions().ttl();
    if (ttl == null) {
      return null;
    }
    var self = feed.discovery().instanceId();
    var sessions =
        new SessionTable(ttl, SessionTable.MAX_SESSIONS, self, nanoClock, wallNanos);
    metrics.gauge(
        RouterMetrics.SESSIONS, sessions::size, new Label("endpoint", endpoint.toString()));
    var replicas =
        new SessionReplicas(
            endpoint, self, sessions, workers, feed.plane(), feed.executor(), metrics);
    return new Affinity(sessions, replicas, settings.sessions().mode(), eligibility);
  }

  private Strategy strategy(EndpointId endpoint, EndpointInstances workers) {
    return settings.mode() == RouterSettings.Mode.KV
        ? new PrefixStrategy(
            settings, endpoint, workers, selector, feed, metrics, overhead, nanoClock)
        : new SpreadStrategy(new Spread(settings.mode(), random));
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
    routers.values().forEach(EndpointRouter::close);
    routers.clear();
  }
}
