package io.dynamo.frontend.wiring;

import io.dynamo.concurrent.Execution;
import io.dynamo.frontend.admission.RequestAdmission;
import io.dynamo.frontend.batches.BatchRunner;
import io.dynamo.frontend.batches.BatchStore;
import io.dynamo.frontend.catalog.AdapterGauges;
import io.dynamo.frontend.catalog.ModelCatalog;
import io.dynamo.frontend.catalog.ModelGauges;
import io.dynamo.frontend.catalog.WorkerGauges;
import io.dynamo.frontend.console.ConsoleFeed;
import io.dynamo.frontend.dispatch.Dispatcher;
import io.dynamo.frontend.dispatch.Talks;
import io.dynamo.frontend.dispatch.WholeAnswers;
import io.dynamo.frontend.grpc.GrpcPort;
import io.dynamo.frontend.media.MediaCache;
import io.dynamo.frontend.media.MediaFetcher;
import io.dynamo.frontend.media.MediaIntake;
import io.dynamo.frontend.media.MediaMeters;
import io.dynamo.frontend.media.SystemResolver;
import io.dynamo.frontend.media.pixels.PixelDecoders;
import io.dynamo.frontend.media.pixels.PixelPool;
import io.dynamo.frontend.openai.BatchLineCalls;
import io.dynamo.frontend.openai.EdgeRules;
import io.dynamo.frontend.openai.Preprocessor;
import io.dynamo.frontend.openai.RealtimeService;
import io.dynamo.frontend.openai.TextPipe;
import io.dynamo.frontend.openai.TextService;
import io.dynamo.frontend.postprocess.TextAssembler;
import io.dynamo.frontend.record.RequestRecords;
import io.dynamo.frontend.responses.ResponseStore;
import io.dynamo.frontend.sse.DisconnectWatcher;
import io.dynamo.frontend.sse.HangUpDetector;
import io.dynamo.frontend.sse.NoHangUpDetector;
import io.dynamo.frontend.warmup.WarmUp;
import io.dynamo.frontend.warmup.WarmUpStage;
import io.dynamo.frontend.watch.RecentFailures;
import io.dynamo.frontend.watch.RequestConsole;
import io.dynamo.frontend.watch.RequestWatch;
import io.dynamo.frontend.watch.Stages;
import io.dynamo.inference.StopConditions;
import io.dynamo.model.vocabulary.TokenTable;
import io.dynamo.natives.HangUps;
import io.dynamo.router.BusyControl;
import io.dynamo.runtime.DynamoRuntime;
import io.dynamo.transfer.jni.NixlLibrary;
import io.dynamo.transfer.nixl.Connector;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Disposes;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.InstantSource;

/**
 * Produces the frontend's parts, one of each. Catalog and dispatcher come from their own packages.
 */
@ApplicationScoped
public class FrontendProducer {
  private static final System.Logger LOG = System.getLogger(FrontendProducer.class.getName());
  private static final int MEDIA_CACHE_PART = 8; // of the heap, at most

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

  /** Produces the lookup of hosts that media come from. */
  @Produces
  @Singleton
  public SystemResolver mediaResolver(DynamoRuntime runtime) {
    return new SystemResolver(runtime.settings().frontend().media().maxFetches());
  }

  void close(@Disposes SystemResolver resolver) {
    resolver.close();
  }

  /** Produces what fetches and measures the media of prompts. */
  @Produces
  @Singleton
  public MediaIntake mediaIntake(DynamoRuntime runtime, SystemResolver resolver) {
    var settings = runtime.settings().frontend().media();
    var meters = new MediaMeters(runtime.metrics());
    return new MediaIntake(
        settings,
        new MediaFetcher(settings, resolver, runtime.timer(), meters),
        new MediaCache(
            Math.min(settings.cacheBytes(), Runtime.getRuntime().maxMemory() / MEDIA_CACHE_PART),
            System::nanoTime),
        settings.nixlBytes() == 0 ? null : pixelDecoders(runtime),
        runtime.blocking(),
        meters);
  }

  private static PixelDecoders pixelDecoders(DynamoRuntime runtime) {
    var settings = runtime.settings();
    var connector = new Connector(NixlLibrary.of(settings.transfer().nixl()));
    return new PixelDecoders(
        PixelPool.opening(connector, settings.frontend().media().nixlBytes(), runtime.blocking()),
        PixelDecoders.Bounds.of(
            Runtime.getRuntime().availableProcessors(), Runtime.getRuntime().maxMemory()));
  }

  void close(@Disposes MediaIntake media) {
    media.close();
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
      WholeAnswers whole,
      Preprocessor preprocessor,
      MediaIntake media,
      RequestAdmission admission,
      DisconnectWatcher watcher,
      Stages stages,
      RequestConsole console,
      RecentFailures failures,
      RequestRecords records,
      WorkerGauges workers,
      ResponseStore responses) {
    return new TextService(
        runtime.settings().frontend(),
        rules,
        new TextService.Gate(
            admission,
            watcher,
            new RequestWatch.WatchFactory(
                stages, runtime.settings().watch().requestLog(), console, failures, records)),
        new TextService.Models(catalog, dispatcher, whole, workers),
        new TextService.TextParts(preprocessor, media, FrontendProducer::textPipe),
        responses,
        execution(runtime));
  }

  @Produces
  @Singleton
  public RealtimeService realtime(
      DynamoRuntime runtime,
      EdgeRules rules,
      ModelCatalog catalog,
      Talks talks,
      RequestAdmission admission,
      DisconnectWatcher watcher,
      Stages stages,
      RequestConsole console,
      RecentFailures failures,
      RequestRecords records) {
    return new RealtimeService(
        rules,
        new TextService.Gate(
            admission,
            watcher,
            new RequestWatch.WatchFactory(
                stages, runtime.settings().watch().requestLog(), console, failures, records)),
        catalog,
        talks,
        execution(runtime));
  }

  private static Execution execution(DynamoRuntime runtime) {
    return new Execution(runtime.blocking(), runtime.timer(), InstantSource.system());
  }

  /** The address under which this process reaches its own port. */
  private static InetSocketAddress reachable(String host, int port) {
    var bound = new InetSocketAddress(host, port);
    return bound.getAddress() != null && bound.getAddress().isAnyLocalAddress()
        ? new InetSocketAddress(InetAddress.getLoopbackAddress(), port)
        : bound;
  }

  private static TextPipe textPipe(
      TokenTable tokens,
      StopConditions stop,
      int[] eosTokenIds,
      boolean includeStop,
      boolean skipSpecialTokens) {
    return new TextAssembler(tokens, stop, eosTokenIds, includeStop, skipSpecialTokens)::accept;
  }

  /** Produces the warm-up; there is none where the HTTP port speaks TLS. */
  @Produces
  @Singleton
  public WarmUp warmUp(
      DynamoRuntime runtime,
      EdgeRules rules,
      WholeAnswers whole,
      Preprocessor preprocessor,
      MediaIntake media,
      DisconnectWatcher watcher,
      ResponseStore responses,
      TextService service) {
    var server = runtime.settings().server();
    var settings = runtime.settings().frontend();
    var parts =
        new WarmUpStage.Parts(
            settings,
            rules,
            whole,
            new TextService.TextParts(preprocessor, media, FrontendProducer::textPipe),
            watcher,
            execution(runtime),
            responses,
            service);
    return new WarmUp(
        server.httpTls().isOn() ? Duration.ZERO : settings.warmUp(),
        reachable(server.httpHost(), server.httpPort()),
        () -> new WarmUpStage(parts));
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

  /** Produces the store of files and batches; where the server is no frontend, nothing uses it. */
  @Produces
  @Singleton
  public BatchStore batchStore(DynamoRuntime runtime) {
    return new BatchStore(
        runtime.settings().batches(),
        runtime.settings().frontend().responses(),
        InstantSource.system());
  }

  /** Produces the runner of batches, which the role starts. */
  @Produces
  @Singleton
  public BatchRunner batchRunner(
      DynamoRuntime runtime, BatchStore store, TextService service, RequestAdmission admission) {
    return new BatchRunner(store, new BatchLineCalls(service, admission), runtime.metrics());
  }

  void close(@Disposes BatchRunner runner) {
    runner.close();
  }

  void close(@Disposes BatchStore store) {
    store.close();
  }

  /** Produces the role, together with the gauges, which nothing else injects. */
  @Produces
  @Singleton
  public FrontendRole role(
      DynamoRuntime runtime,
      RequestAdmission admission,
      TextService completions,
      RealtimeService realtime,
      ModelCatalog catalog,
      ModelGauges gauges,
      AdapterGauges adapters,
      ConsoleFeed console,
      BatchRunner batches,
      GrpcPort grpc,
      WarmUp warmUp) {
    return new FrontendRole(
        runtime, admission, completions, realtime, catalog, console, batches, grpc, warmUp);
  }
}
