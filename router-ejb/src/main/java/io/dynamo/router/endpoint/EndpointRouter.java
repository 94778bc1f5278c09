package io.dynamo.router.endpoint;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.config.router.RouterSettings;
import io.dynamo.discovery.InstanceId;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.OverloadedException;
import io.dynamo.kv.WorkerRank;
import io.dynamo.router.RankReports;
import io.dynamo.router.RouteDecision;
import io.dynamo.router.RouteRequest;
import io.dynamo.router.queue.AdmissionQueue;
import io.dynamo.router.queue.PolicyClass;
import io.dynamo.router.queue.Ticket;
import java.util.HashSet;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Routes the requests to one model's workers at an endpoint: finds the eligible ranks, lets the
 * request wait while they are busy, chooses one and books it. Safe for concurrent use.
 */
final class EndpointRouter implements AutoCloseable {
  private final RouterSettings settings;
  private final ModelInstances instances;
  private final Eligibility eligibility;
  private final EndpointLoads loads;
  private final AdmissionQueue queue;
  private final Strategy strategy;
  private final @Nullable Affinity affinity; // null when sessions are not used
  private final @Nullable InitialWorkers initial; // null when the router does not wait for workers
  private final RequestPlacer placer;
  private final OverheadMeters overhead;
  private final LongSupplier nanoClock;
  private final LocalPrefillRule localPrefill;
  private final Cancellation.Registration changes;

  /**
   * Takes ownership of all arguments that can be closed.
   *
   * @param affinity null when sessions are not used
   * @param observers measure and record each placed request
   */
  EndpointRouter(
      RouterSettings settings,
      ModelInstances instances,
      Eligibility eligibility,
      EndpointLoads loads,
      AdmissionQueue queue,
      Strategy strategy,
      @Nullable Affinity affinity,
      Observers observers) {
    this.settings = settings;
    this.localPrefill = new LocalPrefillRule(settings.localPrefill());
    this.instances = instances;
    this.eligibility = eligibility;
    this.loads = loads;
    this.queue = queue;
    this.strategy = strategy;
    this.affinity = affinity;
    this.overhead = observers.overhead();
    this.nanoClock = observers.nanoClock();
    this.placer =
        new RequestPlacer(settings.queueing().unknownBatchTokens(), eligibility, loads, observers);
    this.initial =
        settings.minInitialWorkers() == 0
            ? null
            : new InitialWorkers(
                settings.minInitialWorkers(), settings.queueing().timeout(), instances);
    loads.active().onRelief(queue::relieved);
    this.changes = instances.onChange(this::workersChanged);
  }

  /**
   * The metrics and records of a router's requests.
   *
   * @param overhead durations of the router's own work
   * @param nanoClock as {@link System#nanoTime()}
   */
  record Observers(
      RequestMeters meters,
      OverheadMeters overhead,
      DecisionRecorder decisions,
      LongSupplier nanoClock) {}

  private void workersChanged() {
    var live = new HashSet<InstanceId>();
    instances.live().forEach(instance -> live.add(instance.id()));
    loads.active().keep(live);
    eligibility.busy().keep(live);
    strategy.workersChanged();
  }

  /** Called when cards of workers were added or removed while the set's profile stayed the same. */
  void cardsChanged() {
    strategy.cardsChanged();
  }

  RouterSettings.Busy thresholds() {
    return eligibility.busy().thresholds();
  }

  void setThresholds(RouterSettings.Busy thresholds) {
    eligibility.busy().setThresholds(thresholds);
    if (eligibility.busy().isOn()) {
      loads.reports().want();
    }
    queue.relieved(); // waiting requests are refused, or may be placed
  }

  boolean allBusy() {
    return eligibility.allBusy();
  }

  RouteDecision route(RouteRequest request) {
    long begin = nanoClock.getAsLong();
    if (initial != null) {
      initial.await(request);
    }
    var hints = request.hints();
    if (settings.mode() == RouterSettings.Mode.DIRECT && hints.pinnedWorker() == null) {
      throw new InvalidRequestException(
          "mode direct needs a worker; say backend_instance_id, or set another dynamo.router.mode");
    }
    var plan = strategy.plan(request);
    long hashed = nanoClock.getAsLong();
    Function<Affinity.Hold, RouteOutcome> admit = hold -> admit(request, plan, hold, begin);
    var decision =
        affinity == null
            ? Affinity.decision(admit.apply(Affinity.Hold.FREE))
            : affinity.route(request, admit);
    long end = nanoClock.getAsLong();
    overhead.scheduling(end - hashed);
    overhead.total(end - begin);
    return decision;
  }

  /**
   * Returns the rank that {@code request} would go to now if it did not wait. Books nothing.
   *
   * @throws io.dynamo.error.NoWorkerException when no live rank may take the request
   * @throws OverloadedException when only busy workers are left
   */
  LoadPreview preview(RouteRequest request) {
    return placer.preview(
        request, strategy.plan(request), affinity == null ? null : affinity.target(request));
  }

  /** Returns the rule by which these workers compute prompts themselves. */
  LocalPrefillRule localPrefill() {
    return localPrefill;
  }

  private RouteOutcome admit(
      RouteRequest request, Strategy.Plan plan, Affinity.Hold hold, long begin) {
    var attempt = placer.attempt(request, plan, hold, begin);
    if (!waits(plan)) {
      var placed = attempt.place(PolicyClass.NEVER_WAITS, 0);
      if (placed == null) {
        throw new IllegalStateException("a request that does not wait was not placed");
      }
      return placed;
    }
    var hints = request.hints();
    var ticket =
        new Ticket(
            CandidateLane.of(request, hold.only()),
            hints.policyClass(),
            hints.strictPriority(),
            hints.priorityJumpSeconds(),
            request.tokenIds().length,
            request.deadline(),
            request.cancellation());
    if (hold.waits()) {
      return queue.admit(ticket, attempt);
    }
    var placed = queue.admitNow(ticket, attempt);
    if (placed == null) {
      throw new OverloadedException("the session's rank has no room now");
    }
    return placed;
  }

  /** Returns the number of requests that wait now. */
  int queued() {
    return queue.waiting();
  }

  private boolean waits(Strategy.Plan plan) {
    return plan.tracksPrefill() && queue.waits();
  }

  /** Returns the number of blocks active on {@code rank}. */
  int blocks(WorkerRank rank) {
    return loads.active().blocks(rank);
  }

  /** Returns the prompt tokens booked on {@code rank} by requests that have no first token yet. */
  long prefillTokens(WorkerRank rank) {
    return loads.active().prefillTokens(rank);
  }

  /** Returns the number of requests placed and not freed. */
  int active() {
    return loads.active().active();
  }

  /** Returns the number of live workers. */
  int workers() {
    return instances.live().size();
  }

  /** Returns the number of KV blocks in use, by the workers' reports. */
  long reportedBlocks() {
    return loads.reported().usedBlocks();
  }

  /** Returns the newest valid load report of {@code rank}; empty when there is none. */
  Optional<RankReports.RankReport> report(WorkerRank rank) {
    return loads
        .reported()
        .of(rank)
        .map(
            it ->
                new RankReports.RankReport(
                    it.load().kvUsedBlocks(),
                    it.load().activeDecodeBlocks(),
                    it.load().activePrefillTokens(),
                    it.ageNanos()));
  }

  /** Returns the number of sessions that are bound now. */
  int sessions() {
    return affinity == null ? 0 : affinity.size();
  }

  int holds() {
    return strategy.holds();
  }

  int indexBlocks() {
    return strategy.indexBlocks();
  }

  /** Stops following the workers and rejects waiting requests. Bookings may still be freed. */
  @Override
  public void close() {
    changes.close();
    if (initial != null) {
      initial.close();
    }
    queue.close();
    strategy.close();
    if (affinity != null) {
      affinity.close();
    }
    loads.close();
    instances.close();
  }
}
