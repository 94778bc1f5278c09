package io.dynamo.router;

import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.error.NoWorkerException;
import io.dynamo.kv.WorkerRank;
import io.dynamo.runtime.EndpointInstances;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/** Routes the requests of one endpoint. Safe for concurrent use. */
interface EndpointRouter extends AutoCloseable {
  RouteDecision route(RouteRequest request);

  @Override
  void close();

  /**
   * The ranks that may take a request; both lists have the same order.
   *
   * @param ranks at least one
   */
  record Candidates(List<Instance> instances, List<WorkerRank> ranks) {
    /**
     * Every rank of every live instance, less those that failed this request; less those set aside,
     * too, unless nothing else is left.
     *
     * @throws NoWorkerException when nobody is left
     */
    static Candidates of(
        RouteRequest request, EndpointInstances instances, Function<Instance, RankRange> ranksOf) {
      var live = instances.live();
      var inhibited = instances.inhibited();
      var candidates = among(live, request.excluded(), inhibited, ranksOf);
      if (candidates.ranks.isEmpty() && !inhibited.isEmpty()) {
        candidates = among(live, request.excluded(), Set.of(), ranksOf);
      }
      if (candidates.ranks.isEmpty()) {
        throw new NoWorkerException(request.endpoint(), live.size(), live.size());
      }
      return candidates;
    }

    private static Candidates among(
        List<Instance> live,
        Set<InstanceId> excluded,
        Set<InstanceId> inhibited,
        Function<Instance, RankRange> ranksOf) {
      var candidates = new Candidates(new ArrayList<>(live.size()), new ArrayList<>(live.size()));
      for (var instance : live) {
        if (!excluded.contains(instance.id()) && !inhibited.contains(instance.id())) {
          var range = ranksOf.apply(instance);
          for (int i = 0; i < range.count(); i++) {
            candidates.instances.add(instance);
            candidates.ranks.add(new WorkerRank(instance.id(), range.first() + i));
          }
        }
      }
      return candidates;
    }
  }
}
