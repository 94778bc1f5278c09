package io.dynamo.router.endpoint;

import io.dynamo.discovery.EndpointId;
import io.dynamo.kv.ActiveLoad;
import io.dynamo.kv.WorkerRank;
import io.dynamo.router.RouteRequest;
import java.lang.System.Logger.Level;
import org.jspecify.annotations.Nullable;

/**
 * Counts, keeps, logs and records each routing decision of one endpoint, all with the same numbers.
 * Safe for concurrent use.
 */
final class DecisionRecorder {
  private static final System.Logger LOG = System.getLogger(EndpointRouter.class.getName());

  private final EndpointId endpoint;
  private final DecisionLog.Router router;
  private final RequestMeters meters;
  private final DecisionLog decisions;

  DecisionRecorder(
      EndpointId endpoint, DecisionLog.Router router, RequestMeters meters, DecisionLog decisions) {
    this.endpoint = endpoint;
    this.router = router;
    this.meters = meters;
    this.decisions = decisions;
  }

  /**
   * Counts, keeps, logs and records one decision.
   *
   * @param waitedNanos nanoseconds from the request's arrival to the decision
   * @param queuedNanos the part of {@code waitedNanos} spent in the queue
   */
  void add(
      RouteRequest request,
      DecisionLog.Narrowing narrowing,
      long waitedNanos,
      long queuedNanos,
      RankCandidates candidates,
      Strategy.Verdict chosen) {
    int tokens = request.tokenIds().length;
    meters.placed(tokens);
    if (chosen.overlaps() != null && tokens >= request.blockTokens()) {
      meters.hit(chosen.overlapBlocks(), tokens / request.blockTokens());
    }
    decisions.add(request, router, narrowing, waitedNanos, queuedNanos, candidates, chosen);
    var rank = candidates.ranks().get(chosen.candidate());
    boolean recorded = RouteEvent.wanted();
    boolean logged = LOG.isLoggable(Level.DEBUG);
    if (recorded || logged) {
      var event = event(request, rank, candidates, chosen);
      event.waited = waitedNanos;
      event.queued = queuedNanos;
      if (recorded) {
        event.commit();
      }
      if (logged) {
        LOG.log(Level.DEBUG, event::line);
      }
    }
  }

  private RouteEvent event(
      RouteRequest request, WorkerRank rank, RankCandidates candidates, Strategy.Verdict chosen) {
    int i = chosen.candidate();
    var loads = chosen.loads();
    var report = new @Nullable ActiveLoad[1];
    router.reported().read(rank, 0, report, new long[1]);
    var reported = report[0];
    var event = new RouteEvent();
    event.requestId = request.requestId();
    event.endpoint = endpoint.toString();
    event.worker = rank.worker().toString();
    event.rank = rank.rank();
    event.reason = chosen.reason().name();
    event.candidates = candidates.size();
    event.promptTokens = request.tokenIds().length;
    event.overlapBlocks = chosen.overlapBlocks();
    var overlaps = chosen.overlaps();
    event.sharedBlocks = overlaps == null ? 0 : overlaps.sharedBy(i);
    event.prefillTokens = loads.prefillTokens()[i];
    event.activeBlocks = loads.blocks()[i];
    event.requests = loads.requests()[i];
    event.cost = chosen.terms() == null ? 0 : chosen.terms().cost()[i];
    event.reportedUsedBlocks = reported == null ? -1 : orUnknown(reported.kvUsedBlocks());
    event.reportUsed = reported != null && router.readsReports().getAsBoolean();
    return event;
  }

  private static long orUnknown(@Nullable Long value) {
    return value == null ? -1 : value;
  }
}
