package io.dynamo.router.wiring;

import io.dynamo.runtime.DynamoRuntime;
import io.dynamo.wire.kv.KvEventCodec;
import io.dynamo.wire.kv.KvIndexCodec;
import io.dynamo.wire.kv.KvQueryCodec;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Disposes;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;

/**
 * Produces the application's one router, as {@code KvRouter} and as {@code RouterStatus}, without a
 * proxy on the request path.
 */
@ApplicationScoped
public class RouterProducer {
  @Produces
  @Singleton
  RunningRouter router(DynamoRuntime runtime) {
    return new RunningRouter(
        runtime,
        KvEventCodec::encode,
        KvEventCodec::decode,
        new KvQueryCodec(),
        new KvIndexCodec());
  }

  void close(@Disposes RunningRouter router) {
    router.close();
  }
}
