package io.dynamo.router;

import io.dynamo.discovery.InstanceId;
import io.dynamo.router.session.SessionTarget;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Requests that narrow their candidates in the same way wait for the same ranks: in one lane. */
record CandidateLane(
    @Nullable InstanceId worker,
    @Nullable Integer rank,
    @Nullable Set<InstanceId> allowed,
    Set<String> taints,
    @Nullable String adapter,
    Set<InstanceId> excluded) {
  private static final CandidateLane ALL =
      new CandidateLane(null, null, null, Set.of(), null, Set.of());

  /**
   * The lane of {@code request}.
   *
   * @param only where its session is; null is anywhere
   */
  static CandidateLane of(RouteRequest request, @Nullable SessionTarget only) {
    if (only != null) {
      return new CandidateLane(only.worker(), only.rank(), null, Set.of(), null, Set.of());
    }
    var hints = request.hints();
    return hints.equals(RouteHints.NONE) && request.excluded().isEmpty()
        ? ALL
        : new CandidateLane(
            hints.pinnedWorker(),
            hints.pinnedRank(),
            hints.allowedWorkers(),
            hints.requiredTaints(),
            hints.loraName(),
            request.excluded());
  }
}
