package io.dynamo.router.endpoint;

import io.dynamo.kv.WorkerRank;
import io.dynamo.router.RouteRequest;
import io.dynamo.router.index.RoomIndex;
import io.dynamo.router.ingest.Placement;
import io.dynamo.router.load.ActiveSequences;
import io.dynamo.router.load.RankLoads;
import io.dynamo.router.queue.AdmissionQueue;
import io.dynamo.router.queue.PolicyClass;
import io.dynamo.router.session.SessionTable;
import io.dynamo.router.session.SessionTarget;
import org.jspecify.annotations.Nullable;

/**
 * Chooses a rank for each request of one endpoint, books the request there, and records the
 * decision. Safe for concurrent use.
 */
final class RequestPlacer {
  private final long unknownBatchTokens;
  private final Eligibility eligibility;
  private final EndpointLoads loads;
  private final EndpointRouter.Observers observers;

  /**
   * Creates a placer for one endpoint.
   *
   * @param unknownBatchTokens the tokens per pass that are assumed of ranks that report none
   */
  RequestPlacer(
      long unknownBatchTokens,
      Eligibility eligibility,
      EndpointLoads loads,
      EndpointRouter.Observers observers) {
    this.unknownBatchTokens = unknownBatchTokens;
    this.eligibility = eligibility;
    this.loads = loads;
    this.observers = observers;
  }

  /**
   * Prepares the placing of {@code request}; nothing is booked yet.
   *
   * @param begin when the request arrived, in nanoseconds of the observers' clock
   */
  AdmissionQueue.Attempt<RouteOutcome> attempt(
      RouteRequest request, Strategy.Plan plan, Affinity.Hold hold, long begin) {
    return new Attempt(request, plan, hold, begin);
  }

  /**
   * Returns the rank that {@code request} would be placed on now, without placing it.
   *
   * @param bound the only target that its session allows; null is any
   */
  LoadPreview preview(RouteRequest request, Strategy.Plan plan, @Nullable SessionTarget bound) {
    var candidates = eligibility.candidates(request, bound);
    plan.look(candidates);
    return loads
        .active()
        .look(
            candidates.ranks(),
            plan.work().prompt(),
            now -> {
              var verdict = plan.choose(candidates, now);
              int chosen = verdict.candidate();
              var its = candidates.traits().get(chosen);
              return new LoadPreview(
                  candidates.ranks().get(chosen),
                  (long) verdict.overlapBlocks() * request.blockTokens(),
                  now.prefillTokens()[chosen],
                  batchTokens(its),
                  (long) now.blocks()[chosen] + now.addedBlocks()[chosen],
                  its.totalBlocks());
            });
  }

  private long batchTokens(WorkerTraits of) {
    return of.maxBatchedTokens() == 0 ? unknownBatchTokens : of.maxBatchedTokens();
  }

  private final class Attempt implements AdmissionQueue.Attempt<RouteOutcome> {
    private final RouteRequest request;
    private final Strategy.Plan plan;
    private final Affinity.Hold hold;
    private final long begin;
    private boolean hasLooked;

    Attempt(RouteRequest request, Strategy.Plan plan, Affinity.Hold hold, long begin) {
      this.request = request;
      this.plan = plan;
      this.hold = hold;
      this.begin = begin;
    }

    @Override
    public @Nullable RouteOutcome place(PolicyClass policy, long queuedNanos) {
      var candidates = look();
      var booked =
          loads
              .active()
              .book(candidates.ranks(), plan.work(), now -> choose(candidates, now, policy));
      return booked == null ? null : settle(candidates, booked, queuedNanos);
    }

    /** Binds the session to the booked rank, or releases the booking. */
    private RouteOutcome settle(
        RankCandidates candidates,
        ActiveSequences.BookedChoice<Strategy.Verdict> booked,
        long queuedNanos) {
      var chosen = booked.choice();
      var rank = candidates.ranks().get(chosen.candidate());
      Placement placement = Placement.of(booked.booking());
      var session = SessionTable.Lease.NONE;
      var held = RoomIndex.Hold.NONE;
      try {
        var lease = hold.lease(rank);
        if (lease == null) {
          placement.close();
          return RouteOutcome.SessionMoved.SESSION_MOVED;
        }
        session = lease;
        held = plan.placed(rank, candidates.traits().get(chosen.candidate()), chosen);
        long waited = observers.nanoClock().getAsLong() - begin;
        observers.decisions().add(request, narrowing(), waited, queuedNanos, candidates, chosen);
        placement = share(placement, rank, booked);
        return new RouteOutcome.Routed(
            new PlacedRequest(
                candidates.instances().get(chosen.candidate()),
                rank,
                chosen.overlapBlocks(),
                new PlacedRequest.Resources(placement, session, held),
                observers.meters(),
                observers.nanoClock(),
                begin));
      } catch (RuntimeException | Error failure) {
        placement.close();
        session.close();
        held.close();
        throw failure;
      }
    }

    /** Publishes the placed request to other routers, where load is shared. */
    private Placement share(
        Placement local, WorkerRank rank, ActiveSequences.BookedChoice<Strategy.Verdict> booked) {
      var replicas = loads.replicas();
      return replicas == null
          ? local
          : replicas.placed(
              request.requestId(),
              rank,
              plan.work().prompt(),
              booked.choice().tokensToPrefill(),
              booked.booking());
    }

    private RankCandidates look() {
      var candidates = eligibility.candidates(request, hold.only());
      plan.look(candidates);
      hasLooked = true;
      return candidates;
    }

    private Strategy.@Nullable Verdict choose(
        RankCandidates candidates, RankLoads now, PolicyClass policy) {
      return policy.waits() && areBusy(candidates, now, policy)
          ? null
          : plan.choose(candidates, now);
    }

    private boolean areBusy(RankCandidates candidates, RankLoads now, PolicyClass policy) {
      for (int i = 0; i < candidates.size(); i++) {
        if (!policy.isBusy(now.prefillTokens()[i], batchTokens(candidates.traits().get(i)))) {
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
      if (!hasLooked) {
        var _ = look();
      }
      return plan.cachedTokens();
    }
  }
}
