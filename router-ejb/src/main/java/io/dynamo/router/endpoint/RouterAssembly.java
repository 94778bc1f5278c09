package io.dynamo.router.endpoint;

import io.dynamo.config.router.RouterCard;
import io.dynamo.config.router.RouterSettings;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.WorkerSet;
import io.dynamo.metrics.MetricName;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.RouterMetrics;
import io.dynamo.router.index.CachedPrefixes;
import io.dynamo.router.ingest.EndpointEvents;
import io.dynamo.router.ingest.EventFeed;
import io.dynamo.router.ingest.LoadIntake;
import io.dynamo.router.ingest.Replicas;
import io.dynamo.router.load.ActiveSequences;
import io.dynamo.router.load.BusyWorkers;
import io.dynamo.router.load.ReportedLoads;
import io.dynamo.router.pool.SharedPool;
import io.dynamo.router.queue.AdmissionQueue;
import io.dynamo.router.queue.PolicyFile;
import io.dynamo.router.queue.PolicyProfile;
import io.dynamo.router.queue.QueueMeters;
import io.dynamo.router.select.RankSelector;
import io.dynamo.router.select.Spread;
import io.dynamo.router.session.SessionReplicas;
import io.dynamo.router.session.SessionTable;
import io.dynamo.router.share.RemotePrefixes;
import io.dynamo.runtime.EndpointInstances;
import io.dynamo.token.TrackingKey;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Assembles the router of one set of workers, with the settings that their cards request. Safe for
 * concurrent use.
 */
final class RouterAssembly implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(RouterAssembly.class.getName());

  /**
   * The properties of the server that the router runs on.
   *
   * @param routerId a label of the router's metrics
   */
  record Server(String routerId, RouterSettings settings, Metrics metrics, RouterClock clock) {}

  private final Server server;
  private final RouterSettings settings;
  private final RouterInputs inputs;
  private final EventFeed feed;
  private final Metrics metrics;
  private final LongSupplier nanoClock;
  private final @Nullable TrackingKey ownKey; // null publishes unkeyed block hashes
  private final @Nullable PolicyFile policies; // null means one class of requests
  private final OverheadMeters overhead;
  private final ConcurrentMap<EndpointId, EndpointGauges> gauges = new ConcurrentHashMap<>();
  private final DecisionLog explanations;
  private final Function<EndpointId, List<EndpointRouter>> current;

  /**
   * Reads the key and policy files of the settings.
   *
   * @param current returns the endpoint's present routers, for metrics, which outlive routers
   */
  RouterAssembly(
      Server server,
      RouterInputs inputs,
      DecisionLog explanations,
      Function<EndpointId, List<EndpointRouter>> current) {
    this.server = server;
    this.settings = server.settings();
    this.inputs = inputs;
    this.feed = inputs.feed();
    this.metrics = server.metrics();
    this.nanoClock = server.clock().nanos();
    this.explanations = explanations;
    this.current = current;
    this.ownKey = key(settings);
    var file = settings.queueing().policies();
    this.policies = file == null ? null : PolicyFile.read(file);
    this.overhead = new OverheadMeters(metrics, server.routerId());
  }

  /**
   * Returns the settings that the workers' cards request; this router's own where they request
   * nothing.
   */
  RouterSettings settingsFor(WorkerSet set, EndpointProfile profile) {
    if (profile.routing().isEmpty()) {
      return settings;
    }
    var reading = RouterCard.read(profile.routing(), settings);
    LOG.log(
        Level.INFO,
        "the workers of {0} ask for mode {1}; their model card counts",
        set,
        reading.settings().mode());
    if (!reading.ignored().isEmpty()) {
      LOG.log(
          Level.WARNING,
          "of the routing that the model card of {0} asks for, this does not count: {1}",
          set,
          String.join("; ", reading.ignored()));
    }
    return reading.settings();
  }

  private static @Nullable TrackingKey key(RouterSettings settings) {
    var file = settings.tracking().key();
    return file == null ? null : TrackingKey.read(file.file(), file.id());
  }

  /**
   * Returns the key for published hashes. A key file that cannot be read is replaced by a random
   * key that no other router has, so that nothing is disclosed.
   */
  private @Nullable TrackingKey key(WorkerSet set, RouterSettings requested) {
    if (Objects.equals(requested.tracking().key(), settings.tracking().key())) {
      return ownKey;
    }
    try {
      return key(requested);
    } catch (IllegalArgumentException e) {
      LOG.log(
          Level.WARNING,
          "the routers of {0} will not know each other''s blocks: {1}",
          set,
          e.getMessage());
      return TrackingKey.random();
    }
  }

  /**
   * Makes a router that already follows its workers.
   *
   * @param settings the result of {@link #settingsFor}
   */
  EndpointRouter assemble(WorkerSet set, EndpointProfile profile, RouterSettings settings) {
    var endpoint = set.endpoint();
    boolean looksAtPrompts = settings.mode() == RouterSettings.Mode.KV;
    var workers = new ModelInstances(set, inputs.instances().apply(endpoint), inputs.cards());
    var load = new ActiveSequences(settings.tracking().expiry(), nanoClock);
    var reported = new ReportedLoads(settings.tracking().expiry(), nanoClock);
    var busy = new BusyWorkers(settings.busy(), reported, load);
    var strategy = strategy(set, profile, settings, workers);
    var reports =
        new ReportSubscription(
            () -> {
              gauge(RouterMetrics.REPORTED_USED_BLOCKS, endpoint, EndpointRouter::reportedBlocks);
              return new LoadIntake(endpoint, workers, reported, feed.plane(), metrics)::close;
            });
    if (looksAtPrompts || busy.isOn()) {
      reports.want();
    }
    var replicas = looksAtPrompts ? replicas(endpoint, settings, load, workers) : null;
    var eligibility = new Eligibility(set, workers, inputs.cards()::traits, busy);
    gauge(RouterMetrics.ACTIVE_REQUESTS, endpoint, EndpointRouter::active);
    gauge(RouterMetrics.WORKERS, endpoint, EndpointRouter::workers);
    if (looksAtPrompts) {
      gauge(RouterMetrics.INDEX_BLOCKS, endpoint, EndpointRouter::indexBlocks);
      gauge(RouterMetrics.ROOM_LEASES, endpoint, EndpointRouter::holds);
    }
    var meters = new RequestMeters(metrics, labels(endpoint), set.model());
    return new EndpointRouter(
        settings,
        workers,
        eligibility,
        new EndpointLoads(load, replicas, reported, reports),
        queue(set.model(), settings.queueing(), workers),
        strategy,
        affinity(endpoint, settings, workers, eligibility),
        new EndpointRouter.Observers(
            meters,
            overhead,
            new DecisionRecorder(
                endpoint,
                new DecisionLog.Router(settings.mode(), reported, busy::isOn),
                meters,
                explanations),
            nanoClock));
  }

  private Replicas replicas(
      EndpointId endpoint,
      RouterSettings settings,
      ActiveSequences load,
      EndpointInstances workers) {
    return new Replicas(
        endpoint,
        feed.discovery().instanceId(),
        settings.tracking().replicaSync(),
        load,
        workers,
        feed.plane(),
        feed.executor(),
        metrics);
  }

  /** Returns the counter of requests to an endpoint, whose cards need not be known. */
  Metrics.Counter started(EndpointId endpoint) {
    return metrics.counter(RouterMetrics.REQUESTS_STARTED, labels(endpoint).of());
  }

  private RouterLabels labels(EndpointId endpoint) {
    return new RouterLabels(endpoint, server.routerId(), feed.discovery().instanceId());
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
    var sessions =
        new SessionTable(
            ttl, SessionTable.MAX_SESSIONS, self, nanoClock, server.clock().wallNanos());
    gauge(RouterMetrics.SESSIONS, endpoint, EndpointRouter::sessions);
    var replicas =
        new SessionReplicas(
            endpoint, self, sessions, workers, feed.plane(), feed.executor(), metrics);
    return new Affinity(sessions, replicas, settings.sessions().mode(), eligibility);
  }

  private void gauge(MetricName name, EndpointId endpoint, ToDoubleFunction<EndpointRouter> value) {
    gauges
        .computeIfAbsent(
            endpoint, of -> new EndpointGauges(metrics, of, inputs.instances().apply(of)))
        .add(name, () -> current.apply(endpoint).stream().mapToDouble(value).sum());
  }

  /** Removes the gauges of all endpoints. Idempotent. */
  @Override
  public void close() {
    gauges.values().forEach(EndpointGauges::close);
    gauges.clear();
  }

  private CachedPrefixes cached(WorkerSet set, RouterSettings settings, EndpointInstances workers) {
    if (settings.costs().overlapScoreCredit() == 0 || !settings.indexing().kvEvents()) {
      return CachedPrefixes.NONE;
    }
    var endpoint = set.endpoint();
    var model = set.model();
    boolean serves = settings.indexing().sharing() == RouterSettings.IndexSharing.SERVE;
    return settings.indexing().sharing() == RouterSettings.IndexSharing.ASK
        ? new RemotePrefixes(
            inputs.indexes(),
            endpoint,
            model,
            metrics.counter(RouterMetrics.REMOTE_INDEX_FAILURES),
            nanoClock)
        : new FollowedPrefixes(
            index -> new EndpointEvents(endpoint, workers, index, feed, metrics, nanoClock),
            serves ? index -> inputs.indexes().serve(endpoint, model, index) : null);
  }

  private @Nullable SharedPool pool(WorkerSet set, RouterSettings settings) {
    var shared = settings.indexing().sharedCache();
    return shared.isOn() ? inputs.pools().open(set, shared.events()) : null;
  }

  private Strategy strategy(
      WorkerSet set, EndpointProfile profile, RouterSettings settings, EndpointInstances workers) {
    return settings.mode() == RouterSettings.Mode.KV
        ? new PrefixStrategy(
            settings,
            new PromptHashing(profile, key(set, settings)),
            workers,
            new RankSelector(
                settings.costs(),
                settings.indexing().sharedCache().multiplier(),
                server.clock().random()),
            new PrefixStrategy.Caches(cached(set, settings, workers), pool(set, settings)),
            new PrefixMeters(metrics, labels(set.endpoint()), set.model(), overhead),
            nanoClock)
        : new SpreadStrategy(
            new Spread(settings.mode(), settings.cudaToCpuRatio(), server.clock().random()));
  }
}
