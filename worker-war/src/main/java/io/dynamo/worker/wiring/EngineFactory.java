package io.dynamo.worker.wiring;

import io.dynamo.config.key.SettingType;
import io.dynamo.config.worker.WorkerSettings;
import io.dynamo.metrics.Metrics;
import io.dynamo.model.ModelDirectory;
import io.dynamo.model.vocabulary.TokenizerFile;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.transfer.HostMemory;
import io.dynamo.worker.engine.EmbeddingEngine;
import io.dynamo.worker.engine.EngineParts;
import io.dynamo.worker.engine.ServerMetrics;
import io.dynamo.worker.engine.ThreadPacer;
import io.dynamo.worker.engine.echo.EchoEngine;
import io.dynamo.worker.engine.llama.LlamaEmbedder;
import io.dynamo.worker.engine.llama.LlamaEmbedderConfig;
import io.dynamo.worker.engine.llama.LlamaEngine;
import io.dynamo.worker.engine.llama.LlamaEngineConfig;
import io.dynamo.worker.engine.llama.LlamaModel;
import io.dynamo.worker.engine.llama.Pooling;
import io.dynamo.worker.engine.llama.math.Kernel;
import io.dynamo.worker.engine.llama.math.Kernels;
import io.dynamo.worker.engine.llamacpp.LlamaCppConfig;
import io.dynamo.worker.engine.llamacpp.LlamaCppEmbeddings;
import io.dynamo.worker.engine.llamacpp.LlamaCppEngine;
import io.dynamo.worker.engine.llamacpp.LlamaCppRanks;
import io.dynamo.worker.engine.mock.FaultSwitch;
import io.dynamo.worker.engine.mock.FaultyMockEngine;
import io.dynamo.worker.engine.mock.MockEngine;
import io.dynamo.worker.engine.mock.MockEngineConfig;
import io.dynamo.worker.engine.mock.OracleTokens;
import io.dynamo.worker.engine.mock.PassTiming;
import io.dynamo.worker.engine.mock.Scheduling;
import io.dynamo.worker.engine.mock.VllmSeries;
import io.dynamo.worker.engine.mock.Xxh3BlockHashing;
import io.dynamo.worker.engine.remote.RemoteEmbedder;
import io.dynamo.worker.engine.remote.RemoteEngine;
import io.dynamo.worker.engine.remote.RemoteEvents;
import io.dynamo.worker.engine.remote.ServerMemory;
import io.dynamo.worker.engine.sampling.GenerationDefaults;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.net.URI;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Makes the engines that the settings of one model name, not started. Used by one thread at a time.
 */
final class EngineFactory {
  private static final System.Logger LOG = System.getLogger(EngineFactory.class.getName());
  private static final int WAITING_PER_RUNNING = 4;
  private static final int DEFAULT_MAX_TOKENS = 64;
  private static final long DEFAULT_SEED = 42;
  private static final int STREAM_BUFFER = 32;

  private final WorkerSettings settings;
  private final EventLoops loops;
  private final HostMemory memory;
  private final RemoteEvents events;
  private final ServerMemory sleeping = new ServerMemory();
  private @Nullable LlamaModel weights; // kept while a llama engine sleeps
  private @Nullable VllmSeries series; // shared by all engines of the model
  private volatile List<ServerMetrics> servers = List.of(); // of the latest engine

  /**
   * @param loops receive the answers of servers
   * @param events follows the KV events of servers
   */
  EngineFactory(WorkerSettings settings, EventLoops loops, HostMemory memory, RemoteEvents events) {
    this.settings = settings;
    this.loops = loops;
    this.memory = memory;
    this.events = events;
  }

  /**
   * Returns a new engine, not started.
   *
   * @param positions the model's context length
   * @param shownName the model name that clients use
   * @throws IllegalArgumentException when the engine cannot run the model
   */
  EngineParts make(ModelDirectory model, int positions, String shownName, Metrics metrics) {
    return switch (settings.engine()) {
      case MOCK -> withFaults(mock(model, positions, series(metrics, shownName)));
      case LLAMA -> EngineParts.of(llama(model));
      case ECHO -> {
        var echo = echo(positions);
        yield new EngineParts(echo, echo, listener -> {});
      }
      case LLAMACPP -> llamaCpp(model, positions);
      case VLLM ->
          remote(
              RemoteEngines.vllm(
                  loops,
                  settings,
                  model,
                  vocabulary(model),
                  positions,
                  maxWaiting(),
                  events,
                  sleeping));
      case SGLANG ->
          remote(
              RemoteEngines.sglang(
                  loops, settings, vocabulary(model), positions, maxWaiting(), events, sleeping));
      case TRTLLM ->
          remote(
              RemoteEngines.trtllm(
                  loops, settings, vocabulary(model), positions, maxWaiting(), events));
      case OPENAI ->
          remote(
              RemoteEngines.openAi(
                  loops, settings, model, vocabulary(model), positions, maxWaiting()));
    };
  }

  /**
   * Returns a new engine for embeddings, not started.
   *
   * @param positions the model's context length
   * @throws IllegalArgumentException when the engine gives none, or cannot run the model
   */
  EmbeddingEngine embedder(ModelDirectory model, int positions) {
    return switch (settings.engine()) {
      case LLAMA -> llamaEmbedder(model);
      case LLAMACPP -> watched(llamaCppEmbedder(positions));
      case VLLM, OPENAI ->
          watched(
              RemoteEngines.embedder(
                  loops, settings, model, vocabulary(model), positions, maxEmbeddings()));
      case MOCK, ECHO, SGLANG, TRTLLM ->
          throw new IllegalArgumentException(
              "dynamo.worker.endpoint-types names embedding, and the engine %s gives none; leave it out, or set dynamo.worker.engine to llama, llamacpp, vllm or openai"
                  .formatted(SettingType.choice(settings.engine())));
    };
  }

  /** Shows the metrics of the server of an engine that only embeds. */
  private RemoteEmbedder watched(RemoteEmbedder embedder) {
    if (servers.isEmpty()) {
      servers = List.of(embedder);
    }
    return embedder;
  }

  private int maxEmbeddings() {
    return Math.addExact(settings.maxRunning(), maxWaiting());
  }

  private RemoteEmbedder llamaCppEmbedder(int positions) {
    var urls = settings.llamaCpp().urls();
    if (urls.size() > 1) {
      throw new IllegalArgumentException(
          "dynamo.worker.llamacpp.url names %d servers, and embeddings take one; give each a worker of its own"
              .formatted(urls.size()));
    }
    var from = llamaCpp(urls.getFirst(), positions);
    boolean unitLength = settings.embedding().unitLength();
    return new RemoteEmbedder(
        loops,
        new RemoteEmbedder.Config(
            from.server(),
            "dynamo.worker.llamacpp.url",
            from.key(),
            from.tls(),
            from.startTimeout(),
            from.silence(),
            settings.maxRunning(),
            maxEmbeddings(),
            unitLength),
        new LlamaCppEmbeddings(positions, unitLength));
  }

  private LlamaEmbedder llamaEmbedder(ModelDirectory directory) {
    var embedding = settings.embedding();
    return new LlamaEmbedder(
        new LlamaEmbedderConfig(
            maxEmbeddings(),
            settings.blockTokens(),
            embeddingBlocks(directory),
            settings.llamaPassTokens(),
            switch (embedding.pooling()) {
              case LAST -> Pooling.LAST;
              case MEAN -> Pooling.MEAN;
            },
            embedding.unitLength()),
        weights(directory),
        memory,
        new ThreadPacer());
  }

  /** Returns the blocks of one prompt of full length: as long as one that generates may be. */
  private int embeddingBlocks(ModelDirectory directory) {
    int context = weights(directory).weights().shape().contextLength();
    int blocks = (context + settings.blockTokens() - 1) / settings.blockTokens();
    return Math.min(blocks, settings.llamaBlocksPerRank());
  }

  private EngineParts remote(RemoteEngine made) {
    servers = List.of(made);
    return new EngineParts(made, made, listener -> {});
  }

  /** Returns the metrics of a server of the latest engine; empty where there is none. */
  String serverMetrics(int index) {
    var latest = servers;
    return index < latest.size() ? latest.get(index).serverMetrics() : "";
  }

  /** Releases the weights that are kept between engines. */
  void forgetWeights() {
    weights = null;
  }

  private VllmSeries series(Metrics metrics, String shownName) {
    var known = series;
    if (known == null) {
      known = new VllmSeries(metrics, shownName);
      series = known;
    }
    return known;
  }

  private int maxWaiting() {
    return Math.multiplyExact(WAITING_PER_RUNNING, settings.maxRunning());
  }

  private MockEngine mock(ModelDirectory model, int positions, VllmSeries series) {
    return new MockEngine(
        new MockEngineConfig(
            settings.ranks(),
            settings.maxRunning(),
            maxWaiting(),
            positions,
            settings.blockTokens(),
            settings.blocksPerRank(),
            settings.blockBytes(),
            scheduling(),
            DEFAULT_MAX_TOKENS,
            DEFAULT_SEED,
            STREAM_BUFFER),
        oracle(Path.of(model.tokenizer().path())),
        new Xxh3BlockHashing(),
        memory,
        new ThreadPacer(),
        series);
  }

  private EngineParts withFaults(MockEngine engine) {
    var faults = settings.mock().faultFile();
    if (faults == null) {
      return EngineParts.of(engine);
    }
    LOG.log(
        Level.WARNING,
        "the mock engine fails as {0} says: fault injection, not for service",
        faults);
    return EngineParts.of(new FaultyMockEngine(engine, new FaultSwitch(Path.of(faults))));
  }

  private Scheduling scheduling() {
    var asked = settings.mock();
    return new Scheduling(
        asked.passTokens(),
        asked.chunkedPrefill(),
        asked.prefixCaching(),
        switch (asked.victim()) {
          case LIFO -> Scheduling.Victim.NEWEST;
          case FIFO -> Scheduling.Victim.OLDEST;
        },
        switch (asked.timing()) {
          case LINEAR ->
              new PassTiming.Linear(settings.prefillPerToken(), settings.tokenInterval());
          case POLYNOMIAL -> new PassTiming.Polynomial();
        },
        asked.speedup(),
        asked.decodeSpeedup());
  }

  private static OracleTokens oracle(Path tokenizer) {
    try {
      return ReadableVocabulary.of(TokenizerFile.read(tokenizer)).oracle();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + tokenizer, e);
    }
  }

  private LlamaEngine llama(ModelDirectory directory) {
    return new LlamaEngine(
        new LlamaEngineConfig(
            settings.ranks(),
            settings.maxRunning(),
            maxWaiting(),
            settings.blockTokens(),
            settings.llamaBlocksPerRank(),
            settings.llamaPassTokens(),
            STREAM_BUFFER),
        weights(directory),
        memory,
        new ThreadPacer(),
        new SecureRandom()::nextLong);
  }

  /** Returns the model, which all engines of one set of settings share. */
  private LlamaModel weights(ModelDirectory directory) {
    var model = weights;
    if (model == null) {
      LOG.log(
          Level.INFO,
          Kernels.hasVectors()
              ? "the llama engine computes with the Vector API"
              : "the llama engine computes with plain loops, the same tokens but slower: start the"
                  + " JVM with --add-modules=jdk.incubator.vector");
      model = load(directory, Kernels.best());
      weights = model;
    }
    return model;
  }

  private static LlamaModel load(ModelDirectory directory, Kernel kernel) {
    try {
      return LlamaModel.load(directory.path(), kernel);
    } catch (IllegalArgumentException | UncheckedIOException e) {
      throw new IllegalArgumentException(
          "the llama engine cannot run the model: "
              + e.getMessage()
              + "; set dynamo.worker.model-path, or dynamo.worker.engine to mock",
          e);
    }
  }

  private EngineParts llamaCpp(ModelDirectory directory, int positions) {
    var urls = settings.llamaCpp().urls();
    if (urls.size() > settings.ranks()) {
      throw new IllegalArgumentException(
          "dynamo.worker.llamacpp.url names %d servers, dynamo.worker.ranks is %d; set it to at least that"
              .formatted(urls.size(), settings.ranks()));
    }
    var defaults = GenerationDefaults.of(directory.path());
    LongSupplier seeds = new SecureRandom()::nextLong;
    if (urls.size() == 1) {
      var engine = new LlamaCppEngine(loops, llamaCpp(urls.getFirst(), positions), defaults, seeds);
      servers = List.of(engine);
      return new EngineParts(engine, engine, listener -> {});
    }
    var configs = urls.stream().map(url -> llamaCpp(url, positions)).toList();
    var engine = new LlamaCppRanks(loops, configs, defaults, seeds, System::nanoTime);
    servers = engine.servers();
    return new EngineParts(engine, engine, listener -> {});
  }

  private LlamaCppConfig llamaCpp(URI url, int positions) {
    var server = settings.llamaCpp();
    return new LlamaCppConfig(
        url,
        RemoteEngines.key(settings.remote()),
        RemoteEngines.tls(settings.remote(), "dynamo.worker.llamacpp.url", url),
        server.startTimeout(),
        server.silenceTimeout(),
        maxWaiting(),
        positions,
        settings.blockTokens(),
        STREAM_BUFFER);
  }

  private static int vocabulary(ModelDirectory model) {
    var size = model.vocabularySize();
    return size == null ? Integer.MAX_VALUE : size;
  }

  private EchoEngine echo(int positions) {
    return new EchoEngine(
        new EchoEngine.Config(
            positions,
            settings.blockTokens(),
            settings.maxRunning(),
            settings.tokenInterval(),
            STREAM_BUFFER),
        new ThreadPacer());
  }
}
