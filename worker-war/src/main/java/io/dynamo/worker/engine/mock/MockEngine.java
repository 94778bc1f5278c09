package io.dynamo.worker.engine.mock;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.ExpandedPrompt;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.model.LoraAdapter;
import io.dynamo.request.RequestContext;
import io.dynamo.transfer.HostMemory;
import io.dynamo.worker.engine.AdapterHost;
import io.dynamo.worker.engine.CacheControl;
import io.dynamo.worker.engine.CacheScope;
import io.dynamo.worker.engine.CancelLog;
import io.dynamo.worker.engine.Engine;
import io.dynamo.worker.engine.EngineDescription;
import io.dynamo.worker.engine.KvEventSink;
import io.dynamo.worker.engine.LoadReport;
import io.dynamo.worker.engine.NamedRank;
import io.dynamo.worker.engine.Pacer;
import io.dynamo.worker.engine.PassReport;
import io.dynamo.worker.engine.RankLoad;
import io.dynamo.worker.engine.TokenStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * An engine whose tokens come from {@link OracleTokens} and whose KV blocks hold bytes made from
 * their tokens. Safe for concurrent use. A generation starts with the call of {@code generate},
 * whether its stream is subscribed to or not; its deadline bounds how long it can hold a slot.
 */
public final class MockEngine implements Engine, LoadReport, PassReport, CacheControl, AdapterHost {
  private final MockEngineConfig config;
  private final OracleTokens oracle;
  private final BlockHashing hashing;
  private final HostMemory memory;
  private final Pacer pacer;
  private final @Nullable VllmSeries series;
  private final CancelLog cancels = new CancelLog();
  private final RankGroup group = new RankGroup();
  private final AtomicInteger turn = new AtomicInteger(); // rotates ties between ranks
  private volatile @Nullable Ranks ranks; // set by start
  private volatile boolean closed; // written under this

  /** The ranks that exist after a start. */
  private record Ranks(
      List<RankScheduler> schedulers, List<PagedKvCache> caches, List<RankSeries> series) {}

  /**
   * @param oracle makes the tokens that the engine answers with
   * @param memory allocates the blocks' memory, one region per rank
   */
  public MockEngine(
      MockEngineConfig config,
      OracleTokens oracle,
      BlockHashing hashing,
      HostMemory memory,
      Pacer pacer) {
    this(config, oracle, hashing, memory, pacer, null);
  }

  /**
   * @param oracle makes the tokens that the engine answers with
   * @param memory allocates the blocks' memory, one region per rank
   * @param series publishes the ranks' metrics; null for none
   */
  public MockEngine(
      MockEngineConfig config,
      OracleTokens oracle,
      BlockHashing hashing,
      HostMemory memory,
      Pacer pacer,
      @Nullable VllmSeries series) {
    this.series = series;
    this.config = config;
    this.oracle = oracle;
    this.hashing = hashing;
    this.memory = memory;
    this.pacer = pacer;
  }

  @Override
  public synchronized EngineDescription start(KvEventSink events) {
    if (ranks != null || closed) {
      throw new IllegalStateException("an engine starts once");
    }
    var caches = new ArrayList<PagedKvCache>();
    var schedulers = new ArrayList<RankScheduler>();
    var published = new ArrayList<RankSeries>();
    try {
      for (int rank = 0; rank < config.ranks(); rank++) {
        int blocks = config.blocksPerRank();
        var region = memory.allocate((long) blocks * config.blockBytes());
        var kept = new PassEvents(events);
        var cache = new PagedKvCache(rank, blocks, config.blockBytes(), region, kept);
        caches.add(cache);
        var times = series == null ? RankSeries.SILENT : series.publish(this, rank);
        published.add(times);
        schedulers.add(new RankScheduler(rank, config, cache, kept, cancels, times, group::wake));
      }
    } catch (RuntimeException failure) {
      caches.forEach(PagedKvCache::close);
      throw failure;
    }
    ranks = new Ranks(List.copyOf(schedulers), List.copyOf(caches), List.copyOf(published));
    group.start(pacer, schedulers);
    return new EngineDescription(
        config.contextLength(),
        config.blockTokens(),
        config.blocksPerRank(),
        config.ranks(),
        config.maxRunning(),
        config.scheduling().passTokens(),
        config.scheduling().prefixCaching());
  }

  @Override
  public Flow.Publisher<EngineOutput> generate(GenerateRequest request, RequestContext context) {
    var at = ranks;
    if (at == null) {
      throw new IllegalStateException("the engine was not started");
    }
    if (closed) {
      throw TokenStream.shutDown();
    }
    int budget = budget(request);
    int rank = rank(request, at.schedulers);
    var scheduler = at.schedulers.get(rank);
    var scope = CacheScope.of(request);
    var seed = request.sampling().seed();
    int total = ExpandedPrompt.tokensOf(request).length + budget;
    var blocks =
        new SequenceBlocks(
            rank,
            at.caches.get(rank),
            hashing.within(scope),
            scheduler.events(),
            config.blockTokens(),
            config.scheduling().prefixCaching(),
            total);
    var generation =
        new MockGeneration(
            request,
            context,
            budget,
            seedWith(scope.adapter(), seed == null ? config.defaultSeed() : seed),
            config.streamBuffer(),
            at.series.get(rank),
            oracle,
            blocks,
            scheduler::wake);
    generation.follow(context.cancellation());
    try {
      scheduler.submit(generation);
    } catch (RuntimeException refused) {
      generation.unfollow();
      throw refused;
    }
    return generation.stream;
  }

  /**
   * Returns the seed of the tokens: an adapter's tokens differ from the model's, and are the same
   * on every worker.
   */
  public static long seedWith(@Nullable String adapter, long seed) {
    return adapter == null ? seed : OracleTokens.after(seed, LoraAdapter.idOf(adapter));
  }

  /** {@inheritDoc} Accepts any adapter and reads no files: only the name changes the tokens. */
  @Override
  public void loadAdapter(String name, Path directory) {}

  @Override
  public void unloadAdapter(String name) {}

  private int budget(GenerateRequest request) {
    int prompt = ExpandedPrompt.tokensOf(request).length;
    int context = config.contextLength();
    if (prompt == 0) {
      throw new InvalidRequestException("the prompt has no tokens");
    }
    var choices = request.sampling().n();
    if (choices != null && choices != 1) {
      throw new InvalidRequestException(
          "n is %d; this engine makes one choice per request".formatted(choices));
    }
    var asked = request.stop().maxTokens();
    if (asked != null && asked < 0) {
      throw new InvalidRequestException("max_tokens " + asked + " is negative");
    }
    // a migration after the last token asks for a budget of 0: it gets the end, nothing else
    int least = asked != null ? asked : 1;
    if ((long) prompt + least > context) {
      throw new InvalidRequestException(
          "%d prompt tokens and %d to generate exceed the context of %d tokens"
              .formatted(prompt, least, context));
    }
    int budget = asked != null ? asked : Math.min(nextEnd(prompt), context) - prompt;
    long blocks = ((long) prompt + budget + config.blockTokens() - 1) / config.blockTokens();
    if (blocks > config.blocksPerRank()) {
      throw new InvalidRequestException(
          "%d prompt tokens and %d to generate need %d KV blocks; a rank has %d"
              .formatted(prompt, budget, blocks, config.blocksPerRank()));
    }
    return budget;
  }

  /**
   * Returns the length at which a text without a budget ends: the next multiple of the configured
   * number of tokens, counted from the start of its prompt. So the end stays where it is when the
   * text continues on another worker, with the tokens so far as its prompt.
   */
  private int nextEnd(int prompt) {
    return (prompt / config.defaultMaxTokens() + 1) * config.defaultMaxTokens();
  }

  private int rank(GenerateRequest request, List<RankScheduler> schedulers) {
    var asked = NamedRank.of(request.routing().rank(), schedulers.size());
    if (asked != null) {
      return asked;
    }
    int count = schedulers.size();
    int first = Math.floorMod(turn.getAndIncrement(), count);
    int least = first;
    for (int i = 1; i < count; i++) {
      int rank = (first + i) % count;
      if (schedulers.get(rank).live() < schedulers.get(least).live()) {
        least = rank;
      }
    }
    return least;
  }

  /** Returns how often sequences had to release their blocks so that others could continue. */
  public long preemptions() {
    var at = ranks;
    return at == null ? 0 : at.schedulers.stream().mapToLong(RankScheduler::preemptions).sum();
  }

  @Override
  public int running() {
    var at = ranks;
    return at == null ? 0 : at.schedulers.stream().mapToInt(RankScheduler::live).sum();
  }

  @Override
  public void clearCache() {
    var at = ranks;
    if (at != null) {
      at.schedulers.forEach(RankScheduler::clear);
    }
  }

  @Override
  public List<RankLoad> ranks() {
    var at = ranks;
    return at == null ? List.of() : at.schedulers.stream().map(RankScheduler::load).toList();
  }

  @Override
  public void reportPassesTo(PassReport.Listener listener) {
    var at = ranks;
    if (at == null) {
      throw new IllegalStateException("the engine was not started");
    }
    at.schedulers.forEach(scheduler -> scheduler.reportPassesTo(listener));
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
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    group.close();
  }
}
