package io.dynamo.router.wiring;

import io.dynamo.discovery.Discovery;
import io.dynamo.kv.RankEvent;
import io.dynamo.router.EndpointRouters;
import io.dynamo.router.KvRouter;
import io.dynamo.router.ModelRanks;
import io.dynamo.router.RouteDecision;
import io.dynamo.router.RouteRequest;
import io.dynamo.runtime.DynamoRuntime;
import io.dynamo.runtime.RouterStatus;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;

/** The router on a runtime: follows the models in discovery and listens to their workers. */
final class RunningRouter implements KvRouter, RouterStatus, AutoCloseable {
  private final String id = HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong());
  private final LongAdder placed = new LongAdder();
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
    var decision = routers.route(request);
    placed.increment();
    return decision;
  }

  @Override
  public String id() {
    return id;
  }

  @Override
  public long placed() {
    return placed.sum();
  }

  @Override
  public void close() {
    models.close();
    routers.close();
  }
}
