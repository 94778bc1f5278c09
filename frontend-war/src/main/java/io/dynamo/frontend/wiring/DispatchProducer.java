package io.dynamo.frontend.wiring;

import io.dynamo.concurrent.Execution;
import io.dynamo.config.Settings;
import io.dynamo.config.memory.HeapShare;
import io.dynamo.frontend.catalog.CardTextLoader;
import io.dynamo.frontend.catalog.DiscoveryCatalog;
import io.dynamo.frontend.catalog.ModelCatalog;
import io.dynamo.frontend.dispatch.Dispatcher;
import io.dynamo.frontend.dispatch.GenerationLegs;
import io.dynamo.frontend.dispatch.LegDispatcher;
import io.dynamo.frontend.dispatch.MigrationRules;
import io.dynamo.frontend.dispatch.PlaneWorkerCalls;
import io.dynamo.frontend.dispatch.Talks;
import io.dynamo.frontend.dispatch.WholeAnswers;
import io.dynamo.frontend.dispatch.WorkerEmbedder;
import io.dynamo.frontend.dispatch.WorkerTalks;
import io.dynamo.frontend.dispatch.WorkerTasks;
import io.dynamo.frontend.dispatch.WorkerTensors;
import io.dynamo.frontend.preprocess.PrefixCache;
import io.dynamo.frontend.watch.Stages;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.router.BusyControl;
import io.dynamo.router.KvRouter;
import io.dynamo.runtime.DynamoRuntime;
import io.dynamo.wire.MessageCodec;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Disposes;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.ThreadLocalRandom;

/** Produces the catalog of models and the dispatcher to their workers. */
@ApplicationScoped
public class DispatchProducer {
  private static final Duration AFTER_REQUESTS = Duration.ofMinutes(1); // to be read and written

  @Produces
  @Singleton
  public ModelCatalog catalog(DynamoRuntime runtime, BusyControl busy) {
    return new DiscoveryCatalog(
        runtime.discovery(),
        new CardTextLoader(
            new PrefixCache(
                Math.min(
                    runtime.settings().frontend().prefixCacheBytes(),
                    HeapShare.PREFIX_CACHE.bytes()),
                runtime.metrics()),
            runtime.settings().discovery().modelFiles()),
        new DiscoveryCatalog.Scope(
            endpoint -> runtime.settings().api().serves(endpoint.namespace()),
            runtime.settings().frontend().requestTimeout().plus(AFTER_REQUESTS)),
        runtime::instances,
        busy::allBusy,
        new Execution(runtime.blocking(), runtime.timer(), InstantSource.system()),
        System::nanoTime,
        () -> ThreadLocalRandom.current().nextDouble());
  }

  void close(@Disposes ModelCatalog catalog) {
    if (catalog instanceof DiscoveryCatalog following) {
      following.close();
    }
  }

  @Produces
  @Singleton
  public Dispatcher dispatcher(
      DynamoRuntime runtime,
      KvRouter router,
      ModelCatalog catalog,
      GenerationLegs legs,
      Stages stages,
      MessageCodec<GenerateRequest, EngineOutput> codec) {
    return new LegDispatcher(
        router,
        new PlaneWorkerCalls(runtime, codec),
        catalog,
        legs,
        migration(runtime.settings()),
        runtime.metrics(),
        stages,
        runtime.blocking(),
        runtime.timer());
  }

  @Produces
  @Singleton
  public WholeAnswers wholeAnswers(
      DynamoRuntime runtime, KvRouter router, MessageCodec<GenerateRequest, EngineOutput> codec) {
    var calls = new PlaneWorkerCalls(runtime, codec);
    int retries = runtime.settings().frontend().migrationLimit();
    return new WholeAnswers(
        new WorkerEmbedder(router, calls, retries, runtime.timer()),
        new WorkerTasks(router, calls, retries, runtime.timer()),
        new WorkerTensors(router, calls, retries, runtime.timer()));
  }

  @Produces
  @Singleton
  public Talks talks(DynamoRuntime runtime, KvRouter router) {
    return new WorkerTalks(
        router,
        runtime.exchanges(),
        (endpoint, worker) -> runtime.instances(endpoint).inhibit(worker),
        runtime.settings().frontend().migrationLimit(),
        runtime.timer());
  }

  private static MigrationRules migration(Settings settings) {
    var longest = settings.api().migrationMaxTokens();
    int limit = settings.frontend().migrationLimit();
    return longest == null ? new MigrationRules(limit) : new MigrationRules(limit, longest);
  }
}
