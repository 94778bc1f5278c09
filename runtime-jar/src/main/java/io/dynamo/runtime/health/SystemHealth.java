package io.dynamo.runtime.health;

import io.dynamo.concurrent.Alarms;
import io.dynamo.config.watch.StatusSettings;
import io.dynamo.request.EndpointHandler;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * The health of one process, by Dynamo's rule: the listed endpoints decide; otherwise those that
 * can be probed; otherwise, when none can be probed, the switch for canaries and the starting
 * status. Safe for concurrent use.
 */
public final class SystemHealth {
  /**
   * The health of the process at one moment.
   *
   * @param uptime since this health was created
   * @param endpoints whether each is ready, by name in alphabetical order; endpoints that share a
   *     name are ready together, leaving out those that rest; one whose endpoints all rest is not
   *     ready
   */
  public record Report(boolean ready, Duration uptime, SequencedMap<String, Boolean> endpoints) {
    public Report {
      endpoints = Collections.unmodifiableSequencedMap(new TreeMap<>(endpoints));
    }
  }

  private final StatusSettings settings;
  private final Alarms alarms;
  private final Executor blocking;
  private final LongSupplier nanoTime;
  private final long startedNanos;
  private final List<EndpointHealth> endpoints = new CopyOnWriteArrayList<>();

  /**
   * @param alarms for the waits of canaries
   * @param blocking runs their probes, and the callbacks with their verdicts
   */
  public SystemHealth(
      StatusSettings settings, Alarms alarms, Executor blocking, LongSupplier nanoTime) {
    this.settings = settings;
    this.alarms = alarms;
    this.blocking = blocking;
    this.nanoTime = nanoTime;
    this.startedNanos = nanoTime.getAsLong();
  }

  /** Adds an endpoint that cannot be probed: ready until it is closed. */
  public EndpointHealth add(String endpoint) {
    var health = new EndpointHealth(endpoint, false, endpoints::remove);
    endpoints.add(health);
    health.set(true);
    return health;
  }

  /**
   * Adds an endpoint that can be probed; not ready before its canary is {@linkplain Canary#start
   * started}.
   *
   * @param payload supplies the request of the next probe; small, and harmless to send often
   * @param isError whether an item reports that the request failed
   * @param onVerdict called on the blocking executor after each verdict, also one that changes
   *     nothing: a callback that could not act on the previous one gets another chance
   */
  public <Q, R> Canary<Q, R> add(
      String endpoint,
      EndpointHandler<Q, R> handler,
      Supplier<? extends Q> payload,
      Predicate<R> isError,
      Runnable onVerdict) {
    var health = new EndpointHealth(endpoint, true, endpoints::remove);
    endpoints.add(health);
    return new Canary<>(
        health,
        settings,
        new Canary.Target<>(handler, payload, isError),
        new Canary.Means(alarms, blocking, nanoTime),
        onVerdict);
  }

  public Report report() {
    var known = new TreeMap<String, Boolean>();
    var resting = new TreeMap<String, Boolean>();
    for (var each : endpoints) {
      if (each.isResting()) {
        resting.put(each.name(), false);
      } else {
        known.merge(each.name(), each.isReady(), Boolean::logicalAnd);
      }
    }
    resting.forEach(known::putIfAbsent);
    return new Report(isReady(known), uptime(), known);
  }

  /** Returns the time since this health was created. */
  public Duration uptime() {
    return Duration.ofNanos(nanoTime.getAsLong() - startedNanos);
  }

  private boolean isReady(SequencedMap<String, Boolean> known) {
    if (!settings.endpoints().isEmpty()) {
      return settings.endpoints().stream().allMatch(name -> known.getOrDefault(name, false));
    }
    var targets = endpoints.stream().filter(EndpointHealth::isTarget).toList();
    if (!targets.isEmpty()) {
      return targets.stream().anyMatch(EndpointHealth::isReady)
          && targets.stream().allMatch(each -> each.isReady() || each.isResting());
    }
    return settings.canaries() || settings.starting() == StatusSettings.Starting.READY;
  }
}
