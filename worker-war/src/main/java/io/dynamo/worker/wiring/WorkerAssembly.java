package io.dynamo.worker.wiring;

import io.dynamo.concurrent.Alarms;
import io.dynamo.config.worker.EngineKind;
import io.dynamo.config.worker.ModelApi;
import io.dynamo.config.worker.WorkerSettings;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.WorkerSet;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.json.JsonObject;
import io.dynamo.metrics.EndpointMetrics;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.WorkerMetrics;
import io.dynamo.model.ModelCard;
import io.dynamo.model.ModelDirectory;
import io.dynamo.model.RenderedSample;
import io.dynamo.model.UnreportedCache;
import io.dynamo.runtime.DynamoRuntime;
import io.dynamo.runtime.status.Registered;
import io.dynamo.wire.MessageCodec;
import io.dynamo.wire.kv.KvEventCodec;
import io.dynamo.wire.kv.KvQueryCodec;
import io.dynamo.worker.EmbeddingService;
import io.dynamo.worker.WorkerService;
import io.dynamo.worker.control.ControlEndpoints;
import io.dynamo.worker.control.ModelControls;
import io.dynamo.worker.control.Taints;
import io.dynamo.worker.engine.EngineDescription;
import io.dynamo.worker.engine.EngineParts;
import io.dynamo.worker.engine.PassReport;
import io.dynamo.worker.engine.SleepableEngine;
import io.dynamo.worker.engine.remote.ZmqKvEvents;
import io.dynamo.worker.kv.KvEventPublisher;
import io.dynamo.worker.kv.KvSources;
import io.dynamo.worker.load.ForwardPasses;
import io.dynamo.worker.load.LoadPublisher;
import io.dynamo.worker.load.PrefillMarks;
import io.dynamo.worker.lora.Adapters;
import io.dynamo.worker.process.CommandWords;
import io.dynamo.worker.process.EngineProcess;
import io.dynamo.worker.relocation.Relocation;
import io.dynamo.worker.serve.BlockMover;
import io.dynamo.worker.serve.Drain;
import io.dynamo.worker.serve.EngineGuard;
import io.dynamo.worker.serve.HealthPayload;
import io.dynamo.worker.serve.Successors;
import io.dynamo.worker.serve.UnreadMedia;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Builds the worker of one model from the settings: engine, publishers, model card and service. For
 * one thread.
 */
final class WorkerAssembly {
  /** The most bytes that one block takes in a dump, sent as an event of its own. */
  private static final int BLOCK_BYTES = 320;

  private final DynamoRuntime runtime;
  private final WorkerSettings settings;
  private final MessageCodec<GenerateRequest, EngineOutput> codec;
  private final ModelDirectory model;
  private final int positions;
  private final EndpointId endpoint;
  private final InstanceId id;
  private final Alarms alarms;
  private final Label[] labels;
  private final EngineFactory factory;

  /**
   * Opens the model's directory.
   *
   * @throws IllegalArgumentException when the model does not state its context length
   */
  WorkerAssembly(
      DynamoRuntime runtime,
      WorkerSettings settings,
      MessageCodec<GenerateRequest, EngineOutput> codec) {
    this.runtime = runtime;
    this.settings = settings;
    this.codec = codec;
    this.model = ModelDirectory.open(settings.modelPath());
    var length = model.contextLength();
    if (length == null) {
      throw new IllegalArgumentException(
          model.config().path()
              + " has no max_position_embeddings, in text_config neither; the worker needs its context");
    }
    this.positions = length;
    this.endpoint =
        new EndpointId(
            runtime.settings().server().namespace(), settings.component(), settings.endpoint());
    this.id = runtime.discovery().instanceId();
    this.alarms = Alarms.on(runtime.timer());
    this.labels =
        new Label[] {
          new Label("dynamo_namespace", EndpointMetrics.labelValue(endpoint.namespace())),
          new Label("dynamo_component", EndpointMetrics.labelValue(endpoint.component())),
          new Label("worker_id", id.hex())
        };
    this.factory =
        new EngineFactory(
            settings,
            runtime.loops(),
            runtime.memory(),
            new ZmqKvEvents(
                runtime.streams(),
                runtime.metrics().counter(WorkerMetrics.KV_EVENTS_DROPPED, labels)));
  }

  /** Builds the worker without starting any part of it. */
  WorkerRole assemble() {
    var apis = apis();
    if (apis.equals(EnumSet.of(ModelApi.EMBEDDING))) {
      return new EmbeddingRole(shownName(), embeddings(endpoint), serverMetrics(), process());
    }
    return generation(apis);
  }

  /** Returns what the worker answers clients with. */
  private Set<ModelApi> apis() {
    var asked = settings.apis();
    if (asked != null) {
      return asked;
    }
    return settings.engine() == EngineKind.LLAMA
        ? EnumSet.allOf(ModelApi.class)
        : EnumSet.of(ModelApi.CHAT, ModelApi.COMPLETIONS);
  }

  /**
   * Returns the service of embeddings, not started.
   *
   * @param at its endpoint
   */
  private EmbeddingService embeddings(EndpointId at) {
    var wish = settings.routerConfig();
    var routing =
        wish == null ? CardRouting.byLoad() : CardRouting.of(wish, runtime.settings().router());
    return new EmbeddingService(
        at,
        runtime.settings().tcp().format(),
        planes(),
        () -> factory.embedder(model, positions),
        description ->
            model.card(
                settings.modelName(),
                Set.of("Embedding"),
                settings.blockTokens(),
                JsonObject.ordered("context_length", description.contextLength()),
                routing),
        runtime.settings().tcp().maxFrameBytes());
  }

  private WorkerService.Planes planes() {
    return new WorkerService.Planes(
        runtime.discovery(), runtime.server(), runtime.metrics(), runtime.status());
  }

  private WorkerRole generation(Set<ModelApi> apis) {
    var embeddings =
        apis.contains(ModelApi.EMBEDDING)
            ? embeddings(
                new EndpointId(
                    endpoint.namespace(), endpoint.component(), settings.embedding().endpoint()))
            : null;
    var probe = payload(settings, codec);
    var taints = taints(settings);
    var wish = CardRouting.of(settings.routerConfig(), runtime.settings().router());
    var engine = engine(embeddings);
    var guard =
        new EngineGuard(
            vocabulary(settings, model), settings.stallTimeout(), alarms, System::nanoTime);
    var adapters =
        new Adapters(
            endpoint,
            runtime.discovery(),
            runtime.status().files(),
            engine,
            runtime.settings().status().loraRoutes() ? settings.maxLoras() : 0);
    var successors = new Successors(endpoint, runtime.instances(endpoint), runtime.discovery());
    var format = runtime.settings().tcp().format();
    var relocation =
        runtime.settings().transfer().onDrain() && engine.hasBlockPort()
            ? new Relocation(endpoint, runtime, engine, successors, labels)
            : null;
    var service =
        new WorkerService(
            endpoint,
            format,
            planes(),
            engine,
            new WorkerService.EngineAccess(
                guard, UnreadMedia.refusedBy(settings.engine(), adapters::admit), probe),
            publishers(engine, guard),
            codec,
            description -> {
              var sample = engine.renderedSample();
              var card = adapters.on(card(apis, description, sample, adapters, wish, taints));
              successors.serve(WorkerSet.of(endpoint, card));
              return card;
            },
            new Drain.Plan(
                runtime.settings().server().handoverAfter(),
                successors::areThere,
                relocation == null ? BlockMover.NONE : relocation.mover()));
    return new GenerationRole(
        service,
        engine,
        new ModelControls(shownName(), service, engine, adapters),
        new ControlEndpoints(
            endpoint, format, runtime.server(), runtime.discovery(), runtime.blocking()),
        adapters,
        successors,
        embeddings,
        relocation,
        serverMetrics(),
        process());
  }

  private String shownName() {
    var name = settings.modelName();
    return name == null ? model.name() : name;
  }

  /** Publishes the metrics of the engine's server on the status server. */
  private Registered serverMetrics() {
    var prefix = RemoteEngines.metricsPrefix(settings.engine());
    if (prefix == null) {
      return () -> {};
    }
    var all = new ArrayList<>(List.of(labels));
    all.add(new Label("dynamo_endpoint", EndpointMetrics.labelValue(endpoint.name())));
    all.add(new Label("model", shownName()));
    all.add(new Label("model_name", shownName()));
    var metrics = runtime.status().engineMetrics();
    int servers = settings.engine() == EngineKind.LLAMACPP ? settings.llamaCpp().urls().size() : 1;
    if (servers == 1) {
      return metrics.add(prefix, all, () -> factory.serverMetrics(0));
    }
    var registered = new ArrayList<Registered>();
    for (int i = 0; i < servers; i++) {
      int rank = i;
      var labelled = new ArrayList<>(all);
      labelled.add(new Label("dp_rank", Integer.toString(rank)));
      registered.add(metrics.add(prefix, labelled, () -> factory.serverMetrics(rank)));
    }
    return () -> registered.forEach(Registered::close);
  }

  /** Returns the engine's server, not started; null when it runs already. */
  private @Nullable EngineProcess process() {
    var wanted = settings.process();
    if (wanted.command() == null) {
      return null;
    }
    switch (settings.engine()) {
      case LLAMACPP -> {
        int servers = settings.llamaCpp().urls().size();
        if (servers > 1) {
          throw new IllegalArgumentException(
              "dynamo.worker.process.command starts one server, and dynamo.worker.llamacpp.url names %d; name one, or start the servers elsewhere"
                  .formatted(servers));
        }
      }
      case VLLM, SGLANG, TRTLLM, OPENAI -> {}
      case MOCK, LLAMA, ECHO ->
          throw new IllegalArgumentException(
              "dynamo.worker.process.command is set, and the engine %s has no server; leave it out, or set dynamo.worker.engine to llamacpp, vllm, sglang, trtllm or openai"
                  .formatted(settings.engine().name().toLowerCase(Locale.ROOT)));
    }
    try {
      return new EngineProcess(
          CommandWords.of(wanted.command()), wanted.log(), wanted.stopTimeout());
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "dynamo.worker.process.command " + e.getMessage() + "; write it as for a shell", e);
    }
  }

  private SleepableEngine engine(@Nullable EmbeddingService embeddings) {
    return new SleepableEngine(
        new SleepableEngine.Source() {
          @Override
          public EngineParts make() {
            return factory.make(model, positions, shownName(), runtime.metrics());
          }

          @Override
          public void forgetWeights() {
            factory.forgetWeights();
          }

          @Override
          public void resting() {
            if (embeddings != null) {
              embeddings.rest();
            }
          }

          @Override
          public void resumed() {
            if (embeddings != null) {
              embeddings.resume();
            }
          }
        });
  }

  private WorkerService.Publishers publishers(SleepableEngine engine, EngineGuard guard) {
    Metrics metrics = runtime.metrics();
    var tcp = runtime.settings().tcp();
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
    return new WorkerService.Publishers(
        events,
        new KvSources(events, endpoint, tcp.format(), new KvQueryCodec(), runtime.blocking()),
        new LoadPublisher(runtime.events(), endpoint, id, engine, alarms),
        new PrefillMarks(
            runtime.events(),
            endpoint,
            id,
            settings.ranks(),
            runtime.blocking(),
            metrics.counter(WorkerMetrics.PREFILL_MARKS_DROPPED, labels)),
        new ForwardPasses(
            runtime.events(),
            endpoint,
            id,
            settings.ranks(),
            watched(engine, guard),
            alarms,
            runtime.blocking(),
            metrics.counter(WorkerMetrics.FORWARD_PASSES_DROPPED, labels)));
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
        passes.reportPassesTo(
            (rank, pass) -> {
              guard.passed(rank);
              listener.passed(rank, pass);
            });
  }

  private static Map<String, @Nullable Object> runtimeData(
      EngineDescription engine, @Nullable RenderedSample sample) {
    Map<String, @Nullable Object> data = new LinkedHashMap<>();
    if (sample != null) {
      data.putAll(sample.runtimeData());
    }
    if (!engine.tellsKvEvents()) {
      data.putAll(UnreportedCache.runtimeData());
    }
    return data;
  }

  /** Returns the flags of the APIs for which this worker generates. */
  private static Set<String> flags(Set<ModelApi> apis) {
    var flags = new TreeSet<String>();
    if (apis.contains(ModelApi.CHAT)) {
      flags.add("Chat");
    }
    if (apis.contains(ModelApi.COMPLETIONS)) {
      flags.add("Completions");
    }
    return flags;
  }

  private ModelCard card(
      Set<ModelApi> apis,
      EngineDescription engine,
      @Nullable RenderedSample sample,
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
    var data = runtimeData(engine, sample);
    if (!data.isEmpty()) {
      limits.put("runtime_data", data);
    }
    var card = model.card(settings.modelName(), flags(apis), engine.blockTokens(), limits, wish);
    return taints.isEmpty() ? card : card.withTaints(taints);
  }
}
