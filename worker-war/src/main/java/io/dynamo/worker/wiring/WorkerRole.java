package io.dynamo.worker.wiring;

import io.dynamo.concurrent.Alarms;
import io.dynamo.concurrent.Deadline;
import io.dynamo.config.WorkerSettings;
import io.dynamo.discovery.EndpointId;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.kv.codec.KvEventCodec;
import io.dynamo.kv.codec.KvQueryCodec;
import io.dynamo.metrics.EndpointMetrics;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.WorkerMetrics;
import io.dynamo.model.ModelCard;
import io.dynamo.model.ModelDirectory;
import io.dynamo.request.MessageCodec;
import io.dynamo.runtime.DynamoRuntime;
import io.dynamo.runtime.RoleLifecycle;
import io.dynamo.worker.WorkerService;
import io.dynamo.worker.engine.EngineDescription;
import io.dynamo.worker.engine.LoadReport;
import io.dynamo.worker.kv.KvEventPublisher;
import io.dynamo.worker.kv.KvSources;
import io.dynamo.worker.load.ForwardPasses;
import io.dynamo.worker.load.LoadPublisher;
import io.dynamo.worker.load.PrefillMarks;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The worker of this server: its engine, model and service made from the settings. */
final class WorkerRole implements RoleLifecycle {
  /** What a block takes in a dump at most: told in an event of its own. */
  private static final int BLOCK_BYTES = 320;

  private final WorkerService service;
  private final LoadReport load;
  private final String memoryKind;
  private final ReentrantLock stopping = new ReentrantLock();

  private WorkerRole(WorkerService service, LoadReport load, String memoryKind) {
    this.service = service;
    this.load = load;
    this.memoryKind = memoryKind;
  }

  /** Makes the worker and starts it; on failure nothing of it is left. */
  static WorkerRole start(
      DynamoRuntime runtime, MessageCodec<GenerateRequest, EngineOutput> codec) {
    var settings = runtime.settings().worker();
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
    Metrics metrics = runtime.metrics();
    var made =
        new EngineFactory(settings, runtime.memory()).make(model, positions, shownName, metrics);
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
    var loads =
        new LoadPublisher(runtime.events(), endpoint, id, made.load(), Alarms.on(runtime.timer()));
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
            made.passes(),
            Alarms.on(runtime.timer()),
            runtime.blocking(),
            metrics.counter(WorkerMetrics.FORWARD_PASSES_DROPPED, labels));
    var service =
        new WorkerService(
            endpoint,
            tcp.format(),
            new WorkerService.Planes(
                runtime.discovery(), runtime.server(), metrics, runtime.status()),
            made.engine(),
            new WorkerService.Outlets(events, sources, loads, marks, passes),
            codec,
            told -> card(model, settings, told));
    service.start();
    return new WorkerRole(service, made.load(), runtime.memory().kind());
  }

  private static ModelCard card(
      ModelDirectory model, WorkerSettings settings, EngineDescription engine) {
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
    if (settings.toolCallParser() != null) {
      limits.put("tool_call_parser", settings.toolCallParser());
    }
    if (settings.reasoningParser() != null) {
      limits.put("reasoning_parser", settings.reasoningParser());
    }
    return model.card(settings.modelName(), engine.blockTokens(), limits);
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

  String memoryKind() {
    return memoryKind;
  }

  @Override
  public String name() {
    return "worker";
  }

  @Override
  public void stop(Deadline deadline) throws InterruptedException {
    // an operator's drain may be under way: its streams keep what is left of their time
    boolean alone = stopping.tryLock(Math.max(0, deadline.remainingNanos()), TimeUnit.NANOSECONDS);
    try {
      if (alone) {
        service.drain(deadline);
      }
    } finally {
      if (alone) {
        stopping.unlock();
      }
      service.close();
    }
  }
}
