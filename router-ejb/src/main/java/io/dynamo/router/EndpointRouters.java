package io.dynamo.router;

import io.dynamo.config.RouterSettings;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.RouterMetrics;
import io.dynamo.router.ingest.EventFeed;
import io.dynamo.router.select.CostModel;
import io.dynamo.router.select.RankSelector;
import io.dynamo.runtime.EndpointInstances;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.DoubleSupplier;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * The router of a server: an {@link EndpointRouter} for each endpoint, made when it is first asked
 * for and closed with this. Safe for concurrent use.
 */
public final class EndpointRouters implements KvRouter, AutoCloseable {
  private final RouterSettings settings;
  private final Function<EndpointId, EndpointInstances> instances;
  private final Function<Instance, RankRange> ranksOf;
  private final EventFeed feed;
  private final Metrics metrics;
  private final LongSupplier nanoClock;
  private final RankSelector selector;
  private final Metrics.Counter decisions;
  private final Metrics.Timer decisionTime;
  private final Map<EndpointId, EndpointRouter> routers = new ConcurrentHashMap<>();
  private boolean closed; // guarded by this

  /**
   * @param ranksOf the data-parallel ranks of an instance, as known now
   * @param random uniform in [0, 1); safe for concurrent use
   * @param nanoClock as {@link System#nanoTime()}
   */
  public EndpointRouters(
      RouterSettings settings,
      Function<EndpointId, EndpointInstances> instances,
      Function<Instance, RankRange> ranksOf,
      EventFeed feed,
      Metrics metrics,
      DoubleSupplier random,
      LongSupplier nanoClock) {
    this.settings = settings;
    this.instances = instances;
    this.ranksOf = ranksOf;
    this.feed = feed;
    this.metrics = metrics;
    this.nanoClock = nanoClock;
    this.selector =
        new RankSelector(
            new CostModel(settings.overlapScoreCredit()), settings.temperature(), random);
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
    return switch (settings.mode()) {
      case ROUND_ROBIN -> new TurnRouter(instances.apply(endpoint), ranksOf);
      case KV ->
          new OverlapRouter(
              endpoint,
              instances.apply(endpoint),
              ranksOf,
              selector,
              settings.replicaSync(),
              feed,
              metrics,
              nanoClock);
    };
  }

  /** Stops listening. What is booked may still be freed. Idempotent. */
  @Override
  public synchronized void close() {
    closed = true;
    routers.values().forEach(EndpointRouter::close);
    routers.clear();
  }
}
