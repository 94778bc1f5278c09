package io.dynamo.router.wiring;

import io.dynamo.discovery.Discovery;
import io.dynamo.kv.RankEvent;
import io.dynamo.router.EndpointRouters;
import io.dynamo.router.KvRouter;
import io.dynamo.router.ModelRanks;
import io.dynamo.router.RouteDecision;
import io.dynamo.router.RouteRequest;
import io.dynamo.runtime.DynamoRuntime;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;

/** The router on a runtime: follows the models in discovery and listens to their workers. */
final class RunningRouter implements KvRouter, AutoCloseable {
  private final EndpointRouters routers;
  private final Discovery.Handle models;

  RunningRouter(DynamoRuntime runtime, Function<byte[], List<RankEvent>> decoder) {
    var ranks = new ModelRanks();
    routers =
        new EndpointRouters(
            runtime.settings().router(),
            runtime::instances,
            ranks,
            runtime.events(),
            decoder,
            runtime.metrics(),
            () -> ThreadLocalRandom.current().nextDouble(),
            System::nanoTime);
    models =
        ranks.follow(
            runtime.discovery(),
            endpoint -> runtime.blocking().execute(() -> routers.prepare(endpoint)));
  }

  @Override
  public RouteDecision route(RouteRequest request) {
    return routers.route(request);
  }

  @Override
  public void close() {
    models.close();
    routers.close();
  }
}
