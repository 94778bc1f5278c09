package io.dynamo.router;

import io.dynamo.config.RouterSettings;
import io.dynamo.discovery.EndpointId;
import io.dynamo.error.DynamoException;
import io.dynamo.error.NoWorkerException;
import io.dynamo.error.OverloadedException;
import io.dynamo.kv.WorkerRank;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.RouterMetrics;
import io.dynamo.router.ingest.EventFeed;
import io.dynamo.router.pool.SharedPools;
import io.dynamo.router.share.IndexPlane;
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
public final class EndpointRouters
    implements KvRouter, BusyControl, BookedLoads, QueueDepths, RouteExplanations, AutoCloseable {
  /**
   * A router and what it was made by.
   *
   * @param decisions counts them
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
  private final Map<EndpointId, Running> routers = new ConcurrentHashMap<>(); // written under this
  private final Map<EndpointId, RouterSettings.Busy> thresholdsByHand = new ConcurrentHashMap<>();
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
      IndexPlane indexes,
      SharedPools pools,
      Metrics metrics,
      DoubleSupplier random,
      LongSupplier nanoClock,
      LongSupplier wallNanos) {
    this.settings = settings;
    this.cards = cards;
    this.metrics = metrics;
    this.nanoClock = nanoClock;
    this.explanations = new DecisionLog(settings.explaining());
    this.decisionTime = metrics.timer(RouterMetrics.DECISION_SECONDS);
    this.assembly =
        new RouterAssembly(
            routerId,
            settings,
            instances,
            cards,
            feed,
            indexes,
            pools,
            metrics,
            random,
            nanoClock,
            wallNanos,
            explanations,
            this::known);
  }

  private @Nullable EndpointRouter known(EndpointId endpoint) {
    var running = routers.get(endpoint);
    return running == null ? null : running.router();
  }

  @Override
  public RouteDecision route(RouteRequest request) {
    long begin = nanoClock.getAsLong();
    started.computeIfAbsent(request.endpoint(), assembly::started).increment();
    while (true) {
      var running = running(request.endpoint());
      try {
        var decision = running.router().route(request);
        running.decisions().increment();
        decisionTime.record(nanoClock.getAsLong() - begin);
        return decision;
      } catch (OverloadedException | NoWorkerException e) {
        checkReplaced(request.endpoint(), running, e);
      }
    }
  }

  /** Who waited at a router that has been closed for another one goes there. */
  private synchronized void checkReplaced(
      EndpointId endpoint, Running running, DynamoException refusal) {
    var now = routers.get(endpoint);
    if (closed || (now != null && now.router().equals(running.router()))) {
      throw refusal;
    }
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
    } else {
      before.router().cardsChanged();
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
    var asked = assembly.asked(endpoint, profile);
    var mode = new Label("mode", asked.mode().name().toLowerCase(Locale.ROOT));
    var router = assembly.assemble(endpoint, profile, asked);
    var byHand = thresholdsByHand.get(endpoint);
    if (byHand != null) {
      router.setThresholds(byHand);
    }
    return new Running(profile, router, metrics.counter(RouterMetrics.DECISIONS, mode));
  }

  @Override
  public RouterSettings.Busy thresholds(EndpointId endpoint) {
    var router = known(endpoint);
    return router == null ? settings.busy() : router.thresholds();
  }

  @Override
  public synchronized void setThresholds(EndpointId endpoint, RouterSettings.Busy thresholds) {
    thresholdsByHand.put(endpoint, thresholds);
    running(endpoint).router().setThresholds(thresholds);
  }

  @Override
  public int blocks(EndpointId endpoint, WorkerRank rank) {
    var router = known(endpoint);
    return router == null ? 0 : router.blocks(rank);
  }

  @Override
  public long prefillTokens(EndpointId endpoint, WorkerRank rank) {
    var router = known(endpoint);
    return router == null ? 0 : router.prefillTokens(rank);
  }

  @Override
  public boolean allBusy(EndpointId endpoint) {
    var router = known(endpoint);
    return router != null && router.allBusy();
  }

  @Override
  public int queued(EndpointId endpoint) {
    var router = known(endpoint);
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

  /** Stops listening. What is booked may still be freed. Idempotent. */
  @Override
  public synchronized void close() {
    closed = true;
    routers.values().forEach(running -> running.router().close());
    routers.clear();
  }
}
