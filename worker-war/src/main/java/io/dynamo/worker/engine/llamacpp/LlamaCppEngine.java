package io.dynamo.worker.engine.llamacpp;

import io.dynamo.error.WorkerBusyException;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.Usage;
import io.dynamo.model.RenderedSample;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.request.RequestContext;
import io.dynamo.worker.engine.CancelLog;
import io.dynamo.worker.engine.Engine;
import io.dynamo.worker.engine.EngineDescription;
import io.dynamo.worker.engine.KvEventSink;
import io.dynamo.worker.engine.LoadReport;
import io.dynamo.worker.engine.NamedRank;
import io.dynamo.worker.engine.RankLoad;
import io.dynamo.worker.engine.SampleReport;
import io.dynamo.worker.engine.ServerMetrics;
import io.dynamo.worker.engine.TokenStream;
import io.dynamo.worker.engine.remote.GenerationThread;
import io.dynamo.worker.engine.remote.LineExchange;
import io.dynamo.worker.engine.sampling.EndTokens;
import io.dynamo.worker.engine.sampling.GenerationDefaults;
import io.dynamo.worker.engine.sampling.PromptLimits;
import io.dynamo.worker.engine.sampling.SamplingPlan;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * An engine that gets its tokens from llama.cpp's server. Safe for concurrent use. A generation
 * starts with the call of {@code generate}, whether its stream is subscribed to or not; its
 * deadline bounds how long it can hold a slot of the server. It has one rank, and reports no KV
 * events, because the server has none, and no passes.
 */
public final class LlamaCppEngine implements Engine, LoadReport, ServerMetrics, SampleReport {
  private static final System.Logger LOG = System.getLogger(LlamaCppEngine.class.getName());
  private static final Duration JOIN = Duration.ofSeconds(5);

  private final EventLoops loops;
  private final LlamaCppConfig config;
  private final GenerationDefaults defaults;
  private final LongSupplier seeds;
  private final Runnable onUnreachable;
  private final CancelLog cancels = new CancelLog();
  private final AtomicInteger live = new AtomicInteger();
  private final AtomicLong promptTokens = new AtomicLong();
  private final AtomicLong cachedTokens = new AtomicLong();
  private volatile @Nullable LlamaCppServer server; // written under this, as is started
  private volatile @Nullable Started started;
  private volatile @Nullable RenderedSample sample;
  private volatile boolean closed;

  /** The server and the objects that exist after a start. */
  private record Started(
      LlamaCppServer server, ServerFacts facts, PromptLimits admission, Slots slots) {
    int blocks(int blockTokens) {
      long tokens = (long) facts.slots() * facts.positions();
      return (int) Math.min(Integer.MAX_VALUE, tokens / blockTokens);
    }
  }

  /**
   * @param loops owned by the caller, who closes them after this engine
   * @param defaults options from the model's own files, where a request has none
   * @param seeds gives the seeds of requests without one; called on any thread
   */
  public LlamaCppEngine(
      EventLoops loops, LlamaCppConfig config, GenerationDefaults defaults, LongSupplier seeds) {
    this(loops, config, defaults, seeds, () -> {});
  }

  /**
   * @param onUnreachable called on any thread when a generation could not connect to the server
   */
  LlamaCppEngine(
      EventLoops loops,
      LlamaCppConfig config,
      GenerationDefaults defaults,
      LongSupplier seeds,
      Runnable onUnreachable) {
    this.loops = loops;
    this.config = config;
    this.defaults = defaults;
    this.seeds = seeds;
    this.onUnreachable = onUnreachable;
  }

  /**
   * {@inheritDoc} Waits until the server has loaded its model.
   *
   * @throws IllegalStateException when the server is not ready in time, or the engine is closed
   *     meanwhile
   */
  @Override
  public synchronized EngineDescription start(KvEventSink events) {
    if (server != null || closed) {
      throw new IllegalStateException("an engine starts once");
    }
    var to = new LlamaCppServer(loops, config);
    server = to;
    try {
      if (closed) { // close may have run before the server was set
        throw new IllegalStateException("the engine is closed");
      }
      var facts = to.awaitReady(config.startTimeout());
      int positions = Math.min(facts.positions(), config.modelPositions());
      var admission =
          new PromptLimits(
              positions,
              facts.vocabulary(),
              "a slot of llama.cpp's server has %d, the model %d"
                  .formatted(facts.positions(), config.modelPositions()));
      var made = new Started(to, facts, admission, new Slots(facts.slots()));
      sample = to.sample();
      started = made;
      LOG.log(
          Level.INFO,
          "llama.cpp at {0}: {1} slots of {2} tokens; no KV events, so routers go by their own"
              + " decisions",
          config.server(),
          facts.slots(),
          facts.positions());
      return new EngineDescription(
          positions,
          config.blockTokens(),
          made.blocks(config.blockTokens()),
          1,
          facts.slots(),
          null,
          false);
    } catch (InterruptedException e) {
      to.close();
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for " + config.server(), e);
    } catch (RuntimeException failure) {
      to.close();
      throw failure;
    }
  }

  @Override
  public Flow.Publisher<EngineOutput> generate(GenerateRequest request, RequestContext context) {
    if (closed) {
      throw TokenStream.shutDown();
    }
    var at = started;
    if (at == null) {
      throw new IllegalStateException("the engine was not started");
    }
    var _ = NamedRank.of(request.routing().rank(), 1);
    int budget = at.admission.budget(request);
    int vocabulary = at.facts.vocabulary();
    var plan = SamplingPlan.of(request, defaults.sampling(), vocabulary, seeds.getAsLong());
    var ends = EndTokens.of(request, defaults.ends(), vocabulary);
    var prompting = new Prompting(request, plan, ends, at.admission.contextLength());
    if (budget == 0) {
      var usage = new Usage(request.tokenIds().length, 0, 0);
      return TokenStream.of(EngineOutput.finish(FinishReason.LENGTH, usage));
    }
    int limit = at.facts.slots() + config.maxWaiting();
    if (live.incrementAndGet() > limit) {
      live.decrementAndGet();
      throw new WorkerBusyException(
          "the engine runs and queues %d generations, its limit; try another worker"
              .formatted(limit));
    }
    var generation =
        new LlamaCppGeneration(
            new GenerationHost(at),
            prompting,
            new GeneratedText(request.tokenIds(), budget, ends, prompting.alternatives()),
            context,
            config.streamBuffer());
    generation.thread().follow(context.cancellation());
    at.slots.enter(generation);
    if (closed) { // close may have run before it entered
      generation.thread().shutDown();
    }
    generation.thread().start();
    return generation.thread().stream();
  }

  /** The engine's services for its generations. */
  private final class GenerationHost implements LlamaCppGeneration.Host {
    private final Started at;

    GenerationHost(Started at) {
      this.at = at;
    }

    @Override
    public LineExchange complete(byte[] body, Runnable onNews) {
      return at.server.complete(body, onNews);
    }

    @Override
    public void settled(LlamaCppGeneration generation) {
      promptTokens.addAndGet(generation.text().promptTokens());
      cachedTokens.addAndGet(generation.text().cachedTokens());
      if (generation.thread().isGivenUp()) {
        cancels.record();
      }
      at.slots.leave(generation);
      live.decrementAndGet();
    }

    @Override
    public void unreachable() {
      onUnreachable.run();
    }

    @Override
    public Duration silence() {
      return config.silence();
    }
  }

  @Override
  public int running() {
    return live.get();
  }

  /** {@inheritDoc} The held blocks are those that the tokens of running generations would fill. */
  @Override
  public List<RankLoad> ranks() {
    var at = started;
    if (at == null) {
      return List.of();
    }
    long prompts = promptTokens.get();
    long cached = cachedTokens.get();
    long held = 0;
    int prefill = 0;
    var running = at.slots.running();
    for (var generation : running) {
      held += (generation.text().length() + config.blockTokens() - 1) / config.blockTokens();
      prefill += generation.prefillTokens();
    }
    int blocks = at.blocks(config.blockTokens());
    return List.of(
        new RankLoad(
            running.size(),
            at.slots.waiting(),
            (int) Math.min(blocks, held),
            0,
            blocks,
            prefill,
            prompts,
            cached,
            0));
  }

  @Override
  public long cancelled() {
    return cancels.count();
  }

  @Override
  public long lastCancelNanos() {
    return cancels.lastNanos();
  }

  /** {@inheritDoc} The server has them when it is started with {@code --metrics}. */
  @Override
  public String serverMetrics() {
    var at = started;
    return at == null || closed ? "" : at.server.metrics();
  }

  @Override
  public @Nullable RenderedSample renderedSample() {
    return sample;
  }

  @Override
  public void close() {
    closed = true; // without the lock: a waiting start holds it
    var at = started;
    if (at != null) {
      GenerationThread.endAll(
          at.slots.all().stream().map(LlamaCppGeneration::thread).toList(),
          JOIN,
          LOG,
          config.server());
    }
    var to = server;
    if (to != null) {
      to.close();
    }
  }
}
