package io.dynamo.router;

import io.dynamo.config.RouterSettings;
import io.dynamo.discovery.EndpointId;
import io.dynamo.kv.WorkerRank;
import java.lang.System.Logger.Level;

/**
 * What is told of each decision of one endpoint: it is counted, kept to be explained, recorded and
 * logged, all by the same numbers. Safe for concurrent use.
 */
final class DecisionTrail {
  private static final System.Logger LOG = System.getLogger(EndpointRouter.class.getName());

  private final EndpointId endpoint;
  private final RouterSettings.Mode mode;
  private final RequestMeters meters;
  private final DecisionLog decisions;

  DecisionTrail(
      EndpointId endpoint,
      RouterSettings.Mode mode,
      RequestMeters meters,
      DecisionLog decisions) {
    this.endpoint = endpoint;
    this.mode = mode;
    this.meters = meters;
    this.decisions = decisions;
  }

  /**
   * @param waitedNanos from the request's arrival to the decision
   */
  void add(
      RouteRequest request,
      DecisionLog.Narrowing narrowing,
      long waitedNanos,
      Candidates candidates,
      Strategy.Verdict chosen) {
    int tokens = request.tokenIds().length;
    meters.placed(tokens);
    if (chosen.overlaps() != null && tokens >= request.blockTokens()) {
      meters.hit(chosen.overlapBlocks(), tokens / request.blockTokens());
    }
    decisions.add(request, mode, narrowing, waitedNanos, candidates, chosen);
    var rank = candidates.ranks().get(chosen.candidate());
    if (RouteEvent.wanted()) {
      record(request, candidates, chosen, rank, waitedNanos);
    }
    if (LOG.isLoggable(Level.DEBUG)) {
      LOG.log(
          Level.DEBUG,
          "{0} of {1} goes to {2} of {3} candidates: {4}, {5} of {6} tokens cached",
          request.requestId(),
          endpoint,
          rank,
          candidates.size(),
          chosen.reason(),
          chosen.overlapBlocks() * request.blockTokens(),
          tokens);
    }
  }

  private void record(
      RouteRequest request,
      Candidates candidates,
      Strategy.Verdict chosen,
      WorkerRank rank,
      long waitedNanos) {
    var event = new RouteEvent();
    event.requestId = request.requestId();
    event.endpoint = endpoint.toString();
    event.worker = rank.worker().toString();
    event.rank = rank.rank();
    event.reason = chosen.reason().name();
    event.candidates = candidates.size();
    event.promptTokens = request.tokenIds().length;
    event.overlapBlocks = chosen.overlapBlocks();
    event.cost = chosen.terms() == null ? 0 : chosen.terms().cost()[chosen.candidate()];
    event.waited = waitedNanos;
    event.commit();
  }
}
