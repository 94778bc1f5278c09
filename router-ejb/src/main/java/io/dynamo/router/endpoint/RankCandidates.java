package io.dynamo.router.endpoint;

import io.dynamo.discovery.Instance;
import io.dynamo.kv.WorkerRank;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The ranks that may take a request, at least one; all parts have the same order.
 *
 * @param traits the traits of the ranks' workers
 * @param factors the factor of each cost for the taints that the client prefers; null is 1
 */
record RankCandidates(
    List<Instance> instances,
    List<WorkerRank> ranks,
    List<WorkerTraits> traits,
    double @Nullable [] factors) {
  int size() {
    return ranks.size();
  }
}
