package io.dynamo.frontend.wiring;

import io.dynamo.frontend.admission.RequestAdmission;
import io.dynamo.frontend.catalog.ModelCatalog;
import io.dynamo.frontend.catalog.ModelGauges;
import io.dynamo.frontend.catalog.WorkerGauges;
import io.dynamo.frontend.console.ConsoleFeed;
import io.dynamo.frontend.dispatch.Dispatcher;
import io.dynamo.frontend.dispatch.Embedder;
import io.dynamo.frontend.openai.EdgeRules;
import io.dynamo.frontend.openai.Preprocessor;
import io.dynamo.frontend.openai.TextService;
import io.dynamo.frontend.postprocess.TextAssembler;
import io.dynamo.frontend.responses.ResponseStore;
import io.dynamo.frontend.sse.DisconnectWatcher;
import io.dynamo.frontend.sse.HangUpDetector;
import io.dynamo.frontend.sse.NoHangUpDetector;
import io.dynamo.frontend.watch.RecentFailures;
import io.dynamo.frontend.watch.RequestConsole;
import io.dynamo.frontend.watch.RequestWatch;
import io.dynamo.frontend.watch.Stages;
import io.dynamo.natives.HangUps;
import io.dynamo.router.BusyControl;
import io.dynamo.runtime.DynamoRuntime;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Disposes;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.InstantSource;

/**
 * Produces the frontend's parts, one of each. Catalog and dispatcher come from their own packages.
 */
@ApplicationScoped
public class FrontendProducer {
  private static final System.Logger LOG = System.getLogger(FrontendProducer.class.getName());

  /** Produces the admission, which is closed until the role starts. */
  @Produces
  @Singleton
  public RequestAdmission admission(DynamoRuntime runtime, BusyControl workers) {
    var settings = runtime.settings().frontend();
    return new RequestAdmission(
        settings.maxConcurrentRequests(),
        settings.admission(),
        workers::allBusy,
        runtime.metrics());
  }

  /** Produces the preprocessor, with a queue for every admitted request. */
  @Produces
  @Singleton
  public Preprocessor preprocessor(DynamoRuntime runtime) {
    var settings = runtime.settings().frontend();
    return new Preprocessor(settings.preprocessThreads(), settings.maxConcurrentRequests());
  }

  void close(@Disposes Preprocessor preprocessor) {
    preprocessor.close();
  }

  @Produces
  @Singleton
  public DisconnectWatcher disconnectWatcher(DynamoRuntime runtime) {
    var settings = runtime.settings().frontend();
    return DisconnectWatcher.started(
        hangUpDetector(), settings.disconnectPoll(), settings.writeStall());
  }

  private static HangUpDetector hangUpDetector() {
    try {
      return new KernelHangUpDetector(HangUps.opened());
    } catch (IOException e) {
      LOG.log(
          Level.WARNING,
          "clients that hang up are found by heartbeats only, since {0}",
          e.getMessage());
      return new NoHangUpDetector();
    }
  }

  void close(@Disposes DisconnectWatcher watcher) {
    watcher.close();
  }

  @Produces
  @Singleton
  public EdgeRules rules(DynamoRuntime runtime) {
    return new EdgeRules(runtime.settings().api());
  }

  @Produces
  @Singleton
  public TextService textService(
      DynamoRuntime runtime,
      EdgeRules rules,
      ModelCatalog catalog,
      Dispatcher dispatcher,
      Embedder embedder,
      Preprocessor preprocessor,
      RequestAdmission admission,
      DisconnectWatcher watcher,
      Stages stages,
      RequestConsole console,
      RecentFailures failures,
      WorkerGauges workers,
      ResponseStore responses) {
    return new TextService(
        runtime.settings().frontend(),
        rules,
        catalog,
        dispatcher,
        embedder,
        preprocessor,
        (tokens, stop, eosTokenIds, includeStop, skipSpecialTokens) ->
            new TextAssembler(tokens, stop, eosTokenIds, includeStop, skipSpecialTokens)::accept,
        admission,
        watcher,
        new TextService.Execution(runtime.blocking(), runtime.timer(), InstantSource.system()),
        new RequestWatch.WatchFactory(
            stages, runtime.settings().watch().requestLog(), console, failures),
        workers,
        responses);
  }

  /** Produces the store of responses; where the server is no frontend, nothing uses it. */
  @Produces
  @Singleton
  public ResponseStore responses(DynamoRuntime runtime) {
    var store =
        new ResponseStore(
            runtime.settings().frontend().responses(), InstantSource.system(), runtime.metrics());
    store.start();
    return store;
  }

  void close(@Disposes ResponseStore store) {
    store.close();
  }

  /** Produces the role, together with the gauges, which nothing else injects. */
  @Produces
  @Singleton
  public FrontendRole role(
      DynamoRuntime runtime,
      RequestAdmission admission,
      TextService completions,
      ModelCatalog catalog,
      ModelGauges gauges,
      ConsoleFeed console) {
    return new FrontendRole(
        runtime.settings().server(),
        runtime.status(),
        admission,
        completions,
        catalog,
        console,
        runtime.settings().api().drainTimeout(),
        runtime.timer());
  }
}
