package io.dynamo.worker.wiring;

import io.dynamo.concurrent.Alarms;
import io.dynamo.concurrent.Deadline;
import io.dynamo.config.worker.EngineKind;
import io.dynamo.config.worker.WorkerSettings;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.WorkerSet;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.metrics.EndpointMetrics;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.WorkerMetrics;
import io.dynamo.model.ModelCard;
import io.dynamo.model.ModelDirectory;
import io.dynamo.runtime.DynamoRuntime;
import io.dynamo.wire.MessageCodec;
import io.dynamo.wire.kv.KvEventCodec;
import io.dynamo.wire.kv.KvQueryCodec;
import io.dynamo.worker.WorkerService;
import io.dynamo.worker.control.ControlEndpoints;
import io.dynamo.worker.control.ModelControls;
import io.dynamo.worker.control.Taints;
import io.dynamo.worker.engine.EngineDescription;
import io.dynamo.worker.engine.EngineParts;
import io.dynamo.worker.engine.LoadReport;
import io.dynamo.worker.engine.PassReport;
import io.dynamo.worker.engine.SleepableEngine;
import io.dynamo.worker.kv.KvEventPublisher;
import io.dynamo.worker.kv.KvSources;
import io.dynamo.worker.load.ForwardPasses;
import io.dynamo.worker.load.LoadPublisher;
import io.dynamo.worker.load.PrefillMarks;
import io.dynamo.worker.lora.Adapters;
import io.dynamo.worker.serve.Drain;
import io.dynamo.worker.serve.EngineGuard;
import io.dynamo.worker.serve.HealthPayload;
import io.dynamo.worker.serve.Successors;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SortedSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The worker of one model: its engine, card and service made from the settings. */
final class WorkerRole {
  /** The bytes that one block takes in a dump at most, sent as an event of its own. */
  private static final int BLOCK_BYTES = 320;

  private final WorkerService service;
  private final LoadReport load;
  private final ModelControls controls;
  private final ControlEndpoints commands;
  private final Adapters adapters;
  private final Successors successors;
  private final ReentrantLock stopping = new ReentrantLock();

  private WorkerRole(
      WorkerService service,
      LoadReport load,
      ModelControls controls,
      ControlEndpoints commands,
      Adapters adapters,
      Successors successors) {
    this.service = service;
    this.load = load;
    this.controls = controls;
    this.commands = commands;
    this.adapters = adapters;
    this.successors = successors;
  }

  /** Makes the worker and starts it; on failure nothing of it is left. */
  static WorkerRole start(
      DynamoRuntime runtime,
      WorkerSettings settings,
      MessageCodec<GenerateRequest, EngineOutput> codec) {
    var model = ModelDirectory.open(settings.modelPath());
    var positions = model.contextLength();
    if (positions == null) {
      throw new IllegalArgumentException(
          model.config().path() + " has no max_position_embeddings; the worker needs its context");
    }
    var endpoint =
        new EndpointId(
            runtime.settings().server().namespace(), settings.component(), settings.endpoint());
    var name = settings.modelName();
    var shownName = name == null ? model.name() : name;
    var probe = payload(settings, codec);
    var taints = taints(settings);
    var wish = RoutingWish.of(settings.routerConfig(), runtime.settings().router());
    Metrics metrics = runtime.metrics();
    var factory = new EngineFactory(settings, runtime.memory());
    var engine =
        new SleepableEngine(
            new SleepableEngine.Source() {
              @Override
              public EngineParts make() {
                return factory.make(model, positions, shownName, metrics);
              }

              @Override
              public void forgetWeights() {
                factory.forgetWeights();
              }
            });
    var alarms = Alarms.on(runtime.timer());
    var guard =
        new EngineGuard(
            vocabulary(settings, model), settings.stallTimeout(), alarms, System::nanoTime);
    var tcp = runtime.settings().tcp();
    var id = runtime.discovery().instanceId();
    var labels =
        new Label[] {
          new Label("dynamo_namespace", EndpointMetrics.labelValue(endpoint.namespace())),
          new Label("dynamo_component", EndpointMetrics.labelValue(endpoint.component())),
          new Label("worker_id", id.hex())
        };
    var events =
        new KvEventPublisher(
            runtime.events(),
            endpoint,
            id,
            settings.ranks(),
            KvEventCodec::encode,
            runtime.blocking(),
            metrics.counter(WorkerMetrics.KV_EVENTS_DROPPED, labels),
            tcp.maxFrameBytes() / BLOCK_BYTES);
    var sources =
        new KvSources(events, endpoint, tcp.format(), new KvQueryCodec(), runtime.blocking());
    var loads = new LoadPublisher(runtime.events(), endpoint, id, engine, alarms);
    var marks =
        new PrefillMarks(
            runtime.events(),
            endpoint,
            id,
            settings.ranks(),
            runtime.blocking(),
            metrics.counter(WorkerMetrics.PREFILL_MARKS_DROPPED, labels));
    var passes =
        new ForwardPasses(
            runtime.events(),
            endpoint,
            id,
            settings.ranks(),
            watched(engine, guard),
            alarms,
            runtime.blocking(),
            metrics.counter(WorkerMetrics.FORWARD_PASSES_DROPPED, labels));
    var adapters =
        new Adapters(
            endpoint,
            runtime.discovery(),
            runtime.status().files(),
            engine,
            runtime.settings().status().loraRoutes() ? settings.maxLoras() : 0);
    var successors = new Successors(endpoint, runtime.instances(endpoint), runtime.discovery());
    var service =
        new WorkerService(
            endpoint,
            tcp.format(),
            new WorkerService.Planes(
                runtime.discovery(), runtime.server(), metrics, runtime.status()),
            engine,
            new WorkerService.Entrance(guard, adapters::admit, probe),
            new WorkerService.Outlets(events, sources, loads, marks, passes),
            codec,
            told -> {
              var card = adapters.on(card(model, settings, told, adapters, wish, taints));
              successors.serve(WorkerSet.of(endpoint, card));
              return card;
            },
            new Drain.Plan(runtime.settings().server().handoverAfter(), successors::areThere));
    var role =
        new WorkerRole(
            service,
            engine,
            new ModelControls(shownName, service, engine, adapters),
            new ControlEndpoints(
                endpoint, tcp.format(), runtime.server(), runtime.discovery(), runtime.blocking()),
            adapters,
            successors);
    try {
      service.start();
      role.commands.open(role.controls);
    } catch (RuntimeException | Error failure) {
      role.close();
      throw failure;
    }
    return role;
  }

  /**
   * The number of token ids that the engine may emit; unbounded for the echo engine, which repeats
   * its prompt.
   */
  private static int vocabulary(WorkerSettings settings, ModelDirectory model) {
    var size = settings.engine() == EngineKind.ECHO ? null : model.vocabularySize();
    return size == null ? Integer.MAX_VALUE : size;
  }

  private static HealthPayload payload(
      WorkerSettings settings, MessageCodec<GenerateRequest, EngineOutput> codec) {
    var text = settings.healthPayload();
    if (text == null) {
      return HealthPayload.standard();
    }
    try {
      return HealthPayload.of(text, codec);
    } catch (InvalidRequestException | UncheckedIOException e) {
      throw new IllegalArgumentException(
          "dynamo.worker.health-payload is of no use: "
              + e.getMessage()
              + "; write a request as generate takes it, or @ and a file with it",
          e);
    }
  }

  private static SortedSet<String> taints(WorkerSettings settings) {
    try {
      return Taints.of(settings.taints());
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("dynamo.worker.taints is of no use: " + e.getMessage(), e);
    }
  }

  /** Forwards the engine's passes and reports each to the guard as a sign of life. */
  private static PassReport watched(PassReport passes, EngineGuard guard) {
    return listener ->
        passes.tellPasses(
            (rank, pass) -> {
              guard.passed(rank);
              listener.passed(rank, pass);
            });
  }

  private static ModelCard card(
      ModelDirectory model,
      WorkerSettings settings,
      EngineDescription engine,
      Adapters adapters,
      Map<String, @Nullable Object> wish,
      SortedSet<String> taints) {
    Map<String, @Nullable Object> limits = new LinkedHashMap<>();
    limits.put("context_length", engine.contextLength());
    limits.put("total_kv_blocks", engine.totalBlocks());
    limits.put("max_num_seqs", engine.maxRunning());
    if (engine.passTokens() != null) {
      limits.put("max_num_batched_tokens", engine.passTokens());
    }
    limits.put("data_parallel_start_rank", 0);
    limits.put("data_parallel_size", engine.ranks());
    limits.put("enable_local_indexer", engine.tellsKvEvents());
    limits.put("kv_event_publishing_enabled", engine.tellsKvEvents());
    if (adapters.isEnabled()) {
      limits.put("max_gpu_lora_count", settings.maxLoras());
    }
    limits.putAll(ParserNames.of(model, settings));
    var card = model.card(settings.modelName(), engine.blockTokens(), limits, wish);
    return taints.isEmpty() ? card : card.withTaints(taints);
  }

  WorkerService.State state() {
    return service.state();
  }

  boolean isReady() {
    return service.isReady();
  }

  LoadReport load() {
    return load;
  }

  boolean isAsleep() {
    return service.isAsleep();
  }

  ModelControls controls() {
    return controls;
  }

  /** Takes no more commands, lets what runs end until the deadline, and frees everything. */
  void stop(Deadline deadline) throws InterruptedException {
    // an operator's drain may be under way: its streams keep what is left of their time
    boolean alone = stopping.tryLock(Math.max(0, deadline.remainingNanos()), TimeUnit.NANOSECONDS);
    try {
      if (alone) {
        commands.close();
        adapters.close();
        service.drain(deadline);
      }
    } finally {
      if (alone) {
        stopping.unlock();
      }
      close();
    }
  }

  /** Ends everything now. Idempotent. */
  void close() {
    commands.close();
    adapters.close();
    service.close();
    successors.close();
  }
}
