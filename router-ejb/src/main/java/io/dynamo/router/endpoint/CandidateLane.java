package io.dynamo.router.endpoint;

import io.dynamo.discovery.InstanceId;
import io.dynamo.router.RouteRequest;
import io.dynamo.router.session.SessionTarget;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The key of a lane: requests that narrow their candidates in the same way wait for the same ranks,
 * in one lane.
 */
record CandidateLane(
    String model,
    @Nullable InstanceId worker,
    @Nullable Integer rank,
    @Nullable Set<InstanceId> allowed,
    Set<String> taints,
    @Nullable String adapter,
    Set<InstanceId> excluded) {
  /**
   * Returns the lane of {@code request}.
   *
   * @param only the target of its session; null is any
   */
  static CandidateLane of(RouteRequest request, @Nullable SessionTarget only) {
    var model = request.workers().model(); // an adapter has candidates of its own
    if (only != null) {
      return new CandidateLane(model, only.worker(), only.rank(), null, Set.of(), null, Set.of());
    }
    var hints = request.hints();
    return new CandidateLane(
        model,
        hints.pinnedWorker(),
        hints.pinnedRank(),
        hints.allowedWorkers(),
        hints.requiredTaints(),
        hints.loraName(),
        request.excluded());
  }
}
