package io.dynamo.router.endpoint;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.config.router.RouterSettings;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.WorkerSet;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.OverloadedException;
import io.dynamo.kv.WorkerRank;
import io.dynamo.router.RouteDecision;
import io.dynamo.router.RouteRequest;
import io.dynamo.router.index.RoomIndex;
import io.dynamo.router.ingest.Placement;
import io.dynamo.router.ingest.Replicas;
import io.dynamo.router.load.ActiveSequences;
import io.dynamo.router.load.RankLoads;
import io.dynamo.router.load.ReportedLoads;
import io.dynamo.router.queue.AdmissionQueue;
import io.dynamo.router.queue.PolicyClass;
import io.dynamo.router.queue.Ticket;
import io.dynamo.router.session.SessionTable;
import java.util.HashSet;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Routes the requests of one model's workers at an endpoint: who may take them, whether they wait,
 * who takes them, and the account of it. Safe for concurrent use.
 */
final class EndpointRouter implements AutoCloseable {
  private final RouterSettings settings;
  private final Eligibility eligibility;
  private final ActiveSequences load;
  private final ReportedLoads reported;
  private final @Nullable Replicas replicas; // null where load is not shared
  private final AdmissionQueue queue;
  private final Strategy strategy;
  private final @Nullable Affinity affinity; // null when sessions count for nothing
  private final @Nullable InitialWorkers initial; // null when none are waited for
  private final RequestMeters meters;
  private final OverheadMeters overhead;
  private final DecisionTrail trail;
  private final LongSupplier nanoClock;
  private final ModelInstances instances;
  private final Cancellation.Registration changes;
  private final WantedReports reports;

  /**
   * @param instances closed with the router
   */
  EndpointRouter(WorkerSet set, RouterSettings settings, ModelInstances instances, Parts parts) {
    this.settings = settings;
    this.instances = instances;
    this.eligibility = parts.eligibility;
    this.load = parts.load;
    this.reported = parts.reported;
    this.replicas = parts.replicas;
    this.queue = parts.queue;
    this.strategy = parts.strategy;
    this.affinity = parts.affinity;
    this.meters = parts.meters;
    this.overhead = parts.overhead;
    this.trail =
        new DecisionTrail(
            set.endpoint(),
            new DecisionLog.Router(settings.mode(), parts.reported, eligibility.busy()::isOn),
            parts.meters,
            parts.decisions);
    this.nanoClock = parts.nanoClock;
    this.reports = parts.reports;
    this.initial =
        settings.minInitialWorkers() == 0
            ? null
            : new InitialWorkers(
                settings.minInitialWorkers(), settings.queueing().timeout(), instances);
    load.onRelief(queue::relieved);
    this.changes = instances.onChange(this::workersChanged);
  }

  /** The parts of a router. */
  record Parts(
      Eligibility eligibility,
      ActiveSequences load,
      ReportedLoads reported,
      @Nullable Replicas replicas,
      AdmissionQueue queue,
      Strategy strategy,
      @Nullable Affinity affinity,
      RequestMeters meters,
      OverheadMeters overhead,
      DecisionLog decisions,
      LongSupplier nanoClock,
      WantedReports reports) {}

  private void workersChanged() {
    var live = new HashSet<InstanceId>();
    instances.live().forEach(instance -> live.add(instance.id()));
    load.keep(live);
    eligibility.busy().keep(live);
    strategy.workersChanged();
  }

  /** Cards of workers came or went; none speaks for them that did not before. */
  void cardsChanged() {
    strategy.cardsChanged();
  }

  RouterSettings.Busy thresholds() {
    return eligibility.busy().thresholds();
  }

  void setThresholds(RouterSettings.Busy thresholds) {
    eligibility.busy().setThresholds(thresholds);
    if (eligibility.busy().isOn()) {
      reports.want();
    }
    queue.relieved(); // who waits is refused, or may be placed
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
    Function<Affinity.Hold, Optional<RouteDecision>> admit =
        hold -> admit(request, plan, hold, begin);
    var decision =
        affinity == null
            ? admit.apply(Affinity.Hold.FREE).orElseThrow()
            : affinity.route(request, admit);
    long end = nanoClock.getAsLong();
    overhead.scheduling(end - hashed);
    overhead.total(end - begin);
    return decision;
  }

  /** Empty when the request's session is elsewhere by now. */
  private Optional<RouteDecision> admit(
      RouteRequest request, Strategy.Plan plan, Affinity.Hold hold, long begin) {
    var attempt = new Attempt(request, plan, hold, begin);
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

  /** Requests that wait now. */
  int queued() {
    return queue.waiting();
  }

  private boolean waits(Strategy.Plan plan) {
    return plan.tracksPrefill() && queue.waits();
  }

  private final class Attempt implements AdmissionQueue.Attempt<Optional<RouteDecision>> {
    private final RouteRequest request;
    private final Strategy.Plan plan;
    private final Affinity.Hold hold;
    private final long begin;
    private Strategy.@Nullable Verdict verdict;
    private boolean looked;

    Attempt(RouteRequest request, Strategy.Plan plan, Affinity.Hold hold, long begin) {
      this.request = request;
      this.plan = plan;
      this.hold = hold;
      this.begin = begin;
    }

    @Override
    @SuppressWarnings("NullableOptional") // null: not now; empty: never
    public @Nullable Optional<RouteDecision> place(PolicyClass policy, long queuedNanos) {
      var candidates = look();
      var booking =
          load.book(candidates.ranks(), plan.work(), loads -> choose(candidates, loads, policy));
      var chosen = verdict;
      if (booking == null || chosen == null) {
        return null;
      }
      var rank = candidates.ranks().get(chosen.candidate());
      Placement placement = Placement.of(booking);
      var session = SessionTable.Lease.NONE;
      var held = RoomIndex.Hold.NONE;
      try {
        var lease = hold.lease(rank);
        if (lease == null) {
          placement.close();
          return Optional.empty();
        }
        session = lease;
        held = plan.placed(rank, candidates.traits().get(chosen.candidate()), chosen);
        long waited = nanoClock.getAsLong() - begin;
        trail.add(request, narrowing(), waited, queuedNanos, candidates, chosen);
        if (replicas != null) {
          placement =
              replicas.placed(
                  request.requestId(),
                  rank,
                  plan.work().prompt(),
                  chosen.tokensToPrefill(),
                  booking);
        }
        return Optional.of(
            new Placed(
                candidates.instances().get(chosen.candidate()),
                rank,
                chosen.overlapBlocks(),
                placement,
                session,
                held,
                meters,
                nanoClock,
                begin));
      } catch (RuntimeException | Error failure) {
        placement.close();
        session.close();
        held.close();
        throw failure;
      }
    }

    private Candidates look() {
      var candidates = eligibility.candidates(request, hold.only());
      plan.look(candidates);
      looked = true;
      return candidates;
    }

    private ActiveSequences.@Nullable Choice choose(
        Candidates candidates, RankLoads loads, PolicyClass policy) {
      if (policy.waits() && areBusy(candidates, loads, policy)) {
        return null;
      }
      var chosen = plan.choose(candidates, loads);
      verdict = chosen;
      return new ActiveSequences.Choice(chosen.candidate(), chosen.tokensToPrefill());
    }

    private boolean areBusy(Candidates candidates, RankLoads loads, PolicyClass policy) {
      for (int i = 0; i < candidates.size(); i++) {
        long batch = candidates.traits().get(i).maxBatchedTokens();
        if (!policy.isBusy(
            loads.prefillTokens()[i],
            batch == 0 ? settings.queueing().unknownBatchTokens() : batch)) {
          return false;
        }
      }
      return true;
    }

    private DecisionLog.Narrowing narrowing() {
      if (hold.only() != null) {
        return DecisionLog.Narrowing.SESSION;
      }
      return request.hints().pinnedWorker() == null
          ? DecisionLog.Narrowing.NONE
          : DecisionLog.Narrowing.PIN;
    }

    @Override
    public long cachedTokens() {
      if (!looked) {
        var _ = look();
      }
      return plan.cachedTokens();
    }
  }

  /** Blocks active on {@code rank}. */
  int blocks(WorkerRank rank) {
    return load.blocks(rank);
  }

  /** Prompt tokens booked on {@code rank} whose first output is not out. */
  long prefillTokens(WorkerRank rank) {
    return load.prefillTokens(rank);
  }

  /** Requests placed and not freed. */
  int active() {
    return load.active();
  }

  /** Live workers. */
  int workers() {
    return instances.live().size();
  }

  /** KV blocks in use, by the workers' reports. */
  long reportedBlocks() {
    return reported.usedBlocks();
  }

  /** Sessions that are bound now. */
  int sessions() {
    return affinity == null ? 0 : affinity.size();
  }

  int holds() {
    return strategy.holds();
  }

  int indexBlocks() {
    return strategy.indexBlocks();
  }

  /** Stops listening and refuses who waits. What is booked may still be freed. */
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
    if (replicas != null) {
      replicas.close();
    }
    reports.close();
    instances.close();
  }
}
