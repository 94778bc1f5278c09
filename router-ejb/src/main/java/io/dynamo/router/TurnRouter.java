package io.dynamo.router;

import io.dynamo.discovery.Instance;
import io.dynamo.kv.WorkerRank;
import io.dynamo.router.select.RoundRobin;
import io.dynamo.runtime.EndpointInstances;
import java.util.function.Function;

/** Gives the requests of one endpoint to its ranks in turn. Keeps no account of load. */
final class TurnRouter implements EndpointRouter {
  private record InTurn(Instance instance, WorkerRank rank) implements RouteDecision {
    @Override
    public int overlapBlocks() {
      return 0;
    }

    @Override
    public void prefillDone() {} // nothing is booked

    @Override
    public void close() {} // nothing is booked
  }

  private final EndpointInstances instances;
  private final Function<Instance, RankRange> ranksOf;
  private final RoundRobin turn = new RoundRobin();

  TurnRouter(EndpointInstances instances, Function<Instance, RankRange> ranksOf) {
    this.instances = instances;
    this.ranksOf = ranksOf;
  }

  @Override
  public RouteDecision route(RouteRequest request) {
    var candidates = Candidates.of(request, instances, ranksOf);
    int chosen = turn.next(candidates.ranks().size());
    return new InTurn(candidates.instances().get(chosen), candidates.ranks().get(chosen));
  }

  @Override
  public void close() {} // holds nothing
}
