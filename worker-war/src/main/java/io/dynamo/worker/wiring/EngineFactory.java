package io.dynamo.worker.wiring;

import io.dynamo.config.WorkerSettings;
import io.dynamo.metrics.Metrics;
import io.dynamo.model.ModelDirectory;
import io.dynamo.transfer.HostMemory;
import io.dynamo.worker.engine.Engine;
import io.dynamo.worker.engine.LoadReport;
import io.dynamo.worker.engine.PassReport;
import io.dynamo.worker.engine.ThreadPacer;
import io.dynamo.worker.engine.echo.EchoEngine;
import io.dynamo.worker.engine.llama.LlamaEngine;
import io.dynamo.worker.engine.llama.LlamaEngineConfig;
import io.dynamo.worker.engine.llama.LlamaModel;
import io.dynamo.worker.engine.llama.math.Kernels;
import io.dynamo.worker.engine.llamacpp.LlamaCppConfig;
import io.dynamo.worker.engine.llamacpp.LlamaCppEngine;
import io.dynamo.worker.engine.mock.MockEngine;
import io.dynamo.worker.engine.mock.MockEngineConfig;
import io.dynamo.worker.engine.mock.OracleTokens;
import io.dynamo.worker.engine.mock.PassTiming;
import io.dynamo.worker.engine.mock.Scheduling;
import io.dynamo.worker.engine.mock.VllmSeries;
import io.dynamo.worker.engine.mock.Xxh3BlockHashing;
import io.dynamo.worker.engine.sampling.GenerationDefaults;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;

/** Makes the engine that the settings name, not started. */
final class EngineFactory {
  private static final System.Logger LOG = System.getLogger(EngineFactory.class.getName());
  private static final int WAITING_PER_RUNNING = 4;
  private static final int DEFAULT_MAX_TOKENS = 64;
  private static final long DEFAULT_SEED = 42;
  private static final int STREAM_BUFFER = 32;

  /**
   * An engine with what it tells.
   *
   * @param load the same object
   * @param passes the same object; of an engine without passes, one that tells of none
   */
  record Made(Engine engine, LoadReport load, PassReport passes) {
    private static <E extends Engine & LoadReport & PassReport> Made of(E engine) {
      return new Made(engine, engine, engine);
    }
  }

  private final WorkerSettings settings;
  private final HostMemory memory;

  EngineFactory(WorkerSettings settings, HostMemory memory) {
    this.settings = settings;
    this.memory = memory;
  }

  /**
   * @param positions the model's context length
   * @param shownName the name that clients use
   * @throws IllegalArgumentException when the engine cannot run the model
   */
  Made make(ModelDirectory model, int positions, String shownName, Metrics metrics) {
    return switch (settings.engine()) {
      case MOCK -> Made.of(mock(model, positions, new VllmSeries(metrics, shownName)));
      case LLAMA -> Made.of(llama(model));
      case ECHO -> {
        var echo = echo(positions);
        yield new Made(echo, echo, listener -> {});
      }
      case LLAMACPP -> {
        var remote = llamaCpp(model, positions);
        yield new Made(remote, remote, listener -> {});
      }
    };
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
      return ReadableVocabulary.of(Files.readAllBytes(tokenizer)).oracle();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + tokenizer, e);
    }
  }

  private LlamaEngine llama(ModelDirectory directory) {
    var kernel = Kernels.best();
    LOG.log(
        Level.INFO,
        Kernels.hasVectors()
            ? "the llama engine computes with the Vector API"
            : "the llama engine computes with plain loops, the same tokens but slower: start the"
                + " JVM with --add-modules=jdk.incubator.vector");
    LlamaModel model;
    try {
      model = LlamaModel.load(directory.path(), kernel);
    } catch (IllegalArgumentException | UncheckedIOException e) {
      throw new IllegalArgumentException(
          "the llama engine cannot run the model: "
              + e.getMessage()
              + "; set dynamo.worker.model-path, or dynamo.worker.engine to mock",
          e);
    }
    return new LlamaEngine(
        new LlamaEngineConfig(
            settings.ranks(),
            settings.maxRunning(),
            maxWaiting(),
            settings.blockTokens(),
            settings.llamaBlocksPerRank(),
            settings.llamaPassTokens(),
            STREAM_BUFFER),
        model,
        memory,
        new ThreadPacer(),
        new SecureRandom()::nextLong);
  }

  private LlamaCppEngine llamaCpp(ModelDirectory directory, int positions) {
    var server = settings.llamaCpp();
    return new LlamaCppEngine(
        new LlamaCppConfig(
            server.url(),
            server.startTimeout(),
            server.silenceTimeout(),
            maxWaiting(),
            positions,
            settings.blockTokens(),
            STREAM_BUFFER),
        GenerationDefaults.of(directory.path()),
        new SecureRandom()::nextLong);
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
