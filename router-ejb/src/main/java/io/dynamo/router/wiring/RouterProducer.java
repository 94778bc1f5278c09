package io.dynamo.router.wiring;

import io.dynamo.kv.RankEvent;
import io.dynamo.router.KvRouter;
import io.dynamo.runtime.DynamoRuntime;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Disposes;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.function.Function;

/** Gives the application its one router, without a proxy on the request path. */
@ApplicationScoped
public class RouterProducer {
  /**
   * @param decoder reads the payload of a KV event message; the runtime's codec
   */
  @Produces
  @Singleton
  KvRouter router(DynamoRuntime runtime, Function<byte[], List<RankEvent>> decoder) {
    return new RunningRouter(runtime, decoder);
  }

  void close(@Disposes KvRouter router) {
    if (router instanceof RunningRouter running) {
      running.close();
    }
  }
}
