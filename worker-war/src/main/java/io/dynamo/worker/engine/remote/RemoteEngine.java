package io.dynamo.worker.engine.remote;

import io.dynamo.error.WorkerBusyException;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.Usage;
import io.dynamo.model.RenderedSample;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.request.RequestContext;
import io.dynamo.worker.engine.AdapterHost;
import io.dynamo.worker.engine.AdapterReport;
import io.dynamo.worker.engine.CacheControl;
import io.dynamo.worker.engine.CancelLog;
import io.dynamo.worker.engine.Engine;
import io.dynamo.worker.engine.EngineDescription;
import io.dynamo.worker.engine.KvEventSink;
import io.dynamo.worker.engine.LoadReport;
import io.dynamo.worker.engine.MemoryRelease;
import io.dynamo.worker.engine.NamedRank;
import io.dynamo.worker.engine.RankLoad;
import io.dynamo.worker.engine.SampleReport;
import io.dynamo.worker.engine.ServerMetrics;
import io.dynamo.worker.engine.TokenStream;
import io.dynamo.worker.engine.sampling.PromptLimits;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * An engine that gets its tokens from a server in another process. Safe for concurrent use. A
 * generation starts with the call of {@code generate}, whether its stream is subscribed to or not;
 * the server queues what it cannot run at once. It reports no passes.
 */
public final class RemoteEngine
    implements Engine,
        LoadReport,
        CacheControl,
        AdapterHost,
        AdapterReport,
        MemoryRelease,
        ServerMetrics,
        SampleReport {
  private static final System.Logger LOG = System.getLogger(RemoteEngine.class.getName());
  private static final Duration JOIN = Duration.ofSeconds(5);

  private final EventLoops loops;
  private final RemoteConfig config;
  private final Dialect dialect;
  private final ServerEvents events;
  private final CancelLog cancels = new CancelLog();
  private final AtomicInteger live = new AtomicInteger();
  private final Set<RemoteGeneration> generations = ConcurrentHashMap.newKeySet();
  private volatile @Nullable EngineHttp http; // written under this, as are the next two
  private volatile @Nullable Started started;
  private volatile @Nullable RenderedSample sample; // likewise
  private RemoteEvents.@Nullable RemoteEventSubscription following;
  private volatile boolean closed;

  /** The server's limits, and counts of each rank. */
  private record Started(
      EngineHttp http,
      RemoteFacts facts,
      PromptLimits limits,
      AtomicLongArray promptTokens,
      AtomicLongArray cachedTokens,
      @Nullable ServerLoads loads) {}

  /**
   * @param loops owned by the caller, who closes them after this engine
   * @param events follows the server's KV events; null to ignore them
   */
  public RemoteEngine(
      EventLoops loops, RemoteConfig config, Dialect dialect, @Nullable RemoteEvents events) {
    this(loops, config, dialect, events, null);
  }

  /**
   * @param loops owned by the caller, who closes them after this engine
   * @param events follows KV events; null to ignore them
   * @param secondEvents where rank 0 of a second publisher sends its KV events, which are merged
   *     with the server's; null for none
   */
  public RemoteEngine(
      EventLoops loops,
      RemoteConfig config,
      Dialect dialect,
      @Nullable RemoteEvents events,
      @Nullable KvEventEndpoint secondEvents) {
    this.loops = loops;
    this.config = config;
    this.dialect = dialect;
    this.events = new ServerEvents(dialect, events, secondEvents);
  }

  /**
   * {@inheritDoc} Waits until the server has loaded its model.
   *
   * @throws IllegalStateException when the server is not ready in time or cannot be used, or the
   *     engine is closed meanwhile
   */
  @Override
  public synchronized EngineDescription start(KvEventSink sink) {
    if (http != null || closed) {
      throw new IllegalStateException("an engine starts once");
    }
    var to =
        new EngineHttp(
            loops,
            dialect.engine(),
            config.server(),
            "dynamo.worker.remote.url",
            config.key(),
            config.tls(),
            EngineHttp.MAX_BODY);
    http = to;
    try {
      if (closed) { // close may have run before the client was set
        throw new IllegalStateException("the engine is closed");
      }
      var facts = to.awaitReady(config.startTimeout(), () -> dialect.ask(to));
      var description = describe(facts);
      int positions = description.contextLength();
      var limits =
          new PromptLimits(
              positions,
              config.vocabulary(),
              "%s serves %d, the model's own files say %d"
                  .formatted(dialect.engine(), facts.positions(), config.modelPositions()));
      sample = Samples.ask(dialect, to);
      following = events.follow(to, facts, sink);
      started =
          new Started(
              to,
              facts,
              limits,
              new AtomicLongArray(facts.ranks()),
              new AtomicLongArray(facts.ranks()),
              ServerLoads.of(dialect, to));
      LOG.log(
          Level.INFO,
          "{0} at {1}: {2} tokens of context, {3} ranks of {4} blocks of {5} tokens; {6}",
          dialect.engine(),
          config.server(),
          positions,
          facts.ranks(),
          facts.totalBlocks(),
          facts.blockTokens(),
          description.tellsKvEvents()
              ? "routers know its cache by its KV events"
              : "no KV events, so routers go by their own decisions");
      return description;
    } catch (InterruptedException e) {
      to.close();
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for " + config.server(), e);
    } catch (RuntimeException failure) {
      to.close();
      throw failure;
    }
  }

  private EngineDescription describe(RemoteFacts facts) {
    if (facts.ranks() > config.maxRanks()) {
      throw new IllegalStateException(
          "%s at %s has %d data-parallel ranks, dynamo.worker.ranks is %d; set it to at least that"
              .formatted(dialect.engine(), config.server(), facts.ranks(), config.maxRanks()));
    }
    return new EngineDescription(
        Math.min(facts.positions(), config.modelPositions()),
        facts.blockTokens(),
        facts.totalBlocks(),
        facts.ranks(),
        facts.maxRunning(),
        facts.passTokens(),
        events.arePublished(facts));
  }

  @Override
  public Flow.Publisher<EngineOutput> generate(GenerateRequest request, RequestContext context) {
    if (closed) {
      throw TokenStream.shutDown();
    }
    var at = requireStarted();
    int ranks = at.facts.ranks();
    var named = NamedRank.of(request.routing().rank(), ranks);
    int budget = at.limits.budget(request);
    int rank = named == null ? RemoteLoads.least(generations, ranks) : named;
    var call = dialect.call(request, Math.max(1, budget), ranks == 1 ? null : (Integer) rank);
    if (budget == 0) {
      var usage = new Usage(request.tokenIds().length, 0, 0);
      return TokenStream.of(EngineOutput.finish(FinishReason.LENGTH, usage));
    }
    int limit =
        (int)
            Math.min(Integer.MAX_VALUE, (long) ranks * at.facts.maxRunning() + config.maxWaiting());
    if (live.incrementAndGet() > limit) {
      live.decrementAndGet();
      throw new WorkerBusyException(
          "the engine runs and queues %d generations, its limit; try another worker"
              .formatted(limit));
    }
    var text =
        new RemoteText(
            request.tokenIds().length,
            budget,
            call.maxTokens(),
            request.output().logprobs() != null);
    var generation =
        new RemoteGeneration(
            new Services(at), call, text, rank, at.http.thread(), context, config.streamBuffer());
    generation.course().follow(context.cancellation());
    generations.add(generation);
    if (closed) { // close may have run before it was added
      generation.course().shutDown();
    }
    generation.start();
    return generation.course().stream();
  }

  private Started requireStarted() {
    var at = started;
    if (at == null) {
      throw new IllegalStateException("the engine was not started");
    }
    return at;
  }

  /** The engine's services for its generations. */
  private final class Services implements RemoteGeneration.Host {
    private final Started at;

    Services(Started at) {
      this.at = at;
    }

    @Override
    public LineExchange send(Dialect.Call call, Runnable onNews) {
      return at.http.stream(call.path(), call.body(), call.headers(), onNews);
    }

    @Override
    public void abort(Dialect.Abort abort) {
      at.http.sendAndForget(abort.path(), abort.body());
    }

    @Override
    public void settled(RemoteGeneration generation) {
      at.promptTokens.addAndGet(generation.rank(), generation.text().promptTokens());
      at.cachedTokens.addAndGet(generation.rank(), generation.text().cachedTokens());
      if (generation.course().isGivenUp()) {
        cancels.record();
      }
      generations.remove(generation);
      live.decrementAndGet();
    }

    @Override
    public Dialect dialect() {
      return dialect;
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

  /**
   * {@inheritDoc} The held blocks are those that the tokens of this worker's generations would
   * fill; generations that the server queues count as running. Where the server reports its load
   * with the requests of others, the greater figures count.
   */
  @Override
  public List<RankLoad> ranks() {
    var at = started;
    if (at == null) {
      return List.of();
    }
    var own = RemoteLoads.of(generations, at.facts, at.promptTokens, at.cachedTokens);
    return at.loads == null || closed ? own : at.loads.complete(own);
  }

  @Override
  public long cancelled() {
    return cancels.count();
  }

  @Override
  public long lastCancelNanos() {
    return cancels.lastNanos();
  }

  @Override
  public String serverMetrics() {
    var at = started;
    return at == null || closed ? "" : at.http.metrics(dialect.metricsPath());
  }

  private ServerCommands commands() {
    return new ServerCommands(dialect, requireStarted().http);
  }

  @Override
  public @Nullable RenderedSample renderedSample() {
    return sample;
  }

  @Override
  public void clearCache() {
    commands().clearCache();
  }

  @Override
  public Map<String, Path> serverAdapters() {
    return commands().adapters();
  }

  @Override
  public void loadAdapter(String name, Path directory) {
    commands().loadAdapter(name, directory);
  }

  @Override
  public void unloadAdapter(String name) {
    commands().unloadAdapter(name);
  }

  @Override
  public void releaseMemory(boolean weightsToo) {
    if (started == null || !(dialect instanceof ServerSleep sleeping)) {
      return;
    }
    closed = true;
    RemoteGeneration.endAll(List.copyOf(generations), JOIN, LOG, config.server());
    try {
      commands().sleep(sleeping, weightsToo);
    } catch (IllegalStateException e) {
      LOG.log(
          Level.WARNING,
          "{0} at {1} keeps its memory while the worker sleeps: {2}",
          dialect.engine(),
          config.server(),
          e.getMessage());
    }
  }

  @Override
  public void close() {
    closed = true; // without the lock: a waiting start holds it
    var at = started;
    if (at != null && at.loads != null) {
      at.loads.close();
    }
    RemoteGeneration.endAll(List.copyOf(generations), JOIN, LOG, config.server());
    var to = http;
    if (to != null) {
      to.close(); // ends a start that waits
    }
    synchronized (this) {
      if (following != null) {
        following.close();
        following = null;
      }
    }
  }
}
