package io.dynamo.worker.engine.llama;

import io.dynamo.concurrent.Deadline;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.Usage;
import io.dynamo.request.RequestContext;
import io.dynamo.token.BlockHasher;
import io.dynamo.transfer.HostMemory;
import io.dynamo.worker.engine.AdapterHost;
import io.dynamo.worker.engine.BlockPort;
import io.dynamo.worker.engine.CacheControl;
import io.dynamo.worker.engine.CacheScope;
import io.dynamo.worker.engine.CancelLog;
import io.dynamo.worker.engine.Engine;
import io.dynamo.worker.engine.EngineDescription;
import io.dynamo.worker.engine.KvBlocks;
import io.dynamo.worker.engine.KvEventSink;
import io.dynamo.worker.engine.KvLayout;
import io.dynamo.worker.engine.LoadReport;
import io.dynamo.worker.engine.NamedRank;
import io.dynamo.worker.engine.Pacer;
import io.dynamo.worker.engine.PassReport;
import io.dynamo.worker.engine.RankLoad;
import io.dynamo.worker.engine.TokenStream;
import io.dynamo.worker.engine.llama.sample.ChoiceGuide;
import io.dynamo.worker.engine.llama.sample.Sampler;
import io.dynamo.worker.engine.llama.weights.LlamaShape;
import io.dynamo.worker.engine.llama.weights.LlamaWeights;
import io.dynamo.worker.engine.llama.weights.LoraWeights;
import io.dynamo.worker.engine.sampling.EndTokens;
import io.dynamo.worker.engine.sampling.PromptLimits;
import io.dynamo.worker.engine.sampling.SamplingPlan;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Flow;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * An engine that computes a Llama model in this process. Safe for concurrent use. A generation
 * starts with the call of {@code generate}, whether its stream is subscribed to or not; its
 * deadline bounds how long it can hold a place.
 *
 * <p>The same prompt, options and seed give the same tokens, independent of other generations, of
 * the cache's content, and of which engine with the same weights continues a text.
 */
public final class LlamaEngine
    implements Engine, LoadReport, PassReport, CacheControl, AdapterHost, BlockPort {
  private final LlamaEngineConfig config;
  private final LlamaModel model;
  private final HostMemory memory;
  private final Pacer pacer;
  private final LongSupplier seeds;
  private final PromptLimits admission;
  private final BlockHasher hasher; // for prompts without adapter and salt
  private final KvLayout layout;
  private final BlockTransfer blocks;
  private final AdaptedModel unadapted;
  private final Map<String, AdaptedModel> adapters = new ConcurrentHashMap<>(); // by adapter name
  private final CancelLog cancels = new CancelLog();
  private volatile List<Rank> ranks = List.of(); // set by start
  private volatile boolean closed; // written under this

  /** A rank and the scratch arrays that only its thread uses. */
  private record Rank(LlamaRank scheduler, Sampler.Scratch scratch) {}

  /**
   * @param memory allocates the blocks' memory, one region per rank
   * @param pacer drives the ranks
   * @param seeds gives the seeds of requests without one; called on any thread
   */
  public LlamaEngine(
      LlamaEngineConfig config,
      LlamaModel model,
      HostMemory memory,
      Pacer pacer,
      LongSupplier seeds) {
    this.config = config;
    this.model = model;
    this.memory = memory;
    this.pacer = pacer;
    this.seeds = seeds;
    this.admission = admission(config, model.weights().shape());
    this.unadapted = new AdaptedModel(model.weights());
    this.hasher = BlockHasher.of(config.blockTokens());
    this.layout = layout(model.weights(), config.blockTokens());
    this.blocks = new BlockTransfer(memory, layout, hasher);
  }

  private static KvLayout layout(LlamaWeights weights, int blockTokens) {
    var shape = weights.shape();
    return new KvLayout(
        "llama, float32, keys and values of %s".formatted(shape),
        weights.digest(),
        blockTokens,
        KvStore.blockBytes(shape, blockTokens));
  }

  private static PromptLimits admission(LlamaEngineConfig config, LlamaShape shape) {
    long held = (long) config.blocksPerRank() * config.blockTokens();
    return new PromptLimits(
        (int) Math.min(shape.contextLength(), held),
        shape.vocabulary(),
        "the model has %d positions, a rank %d KV blocks of %d"
            .formatted(shape.contextLength(), config.blocksPerRank(), config.blockTokens()));
  }

  @Override
  public synchronized EngineDescription start(KvEventSink events) {
    if (!ranks.isEmpty() || closed) {
      throw new IllegalStateException("an engine starts once");
    }
    var shape = model.weights().shape();
    var rotation = new Rotation(shape);
    long blockBytes = KvStore.blockBytes(shape, config.blockTokens());
    long regionBytes = Math.multiplyExact(config.blocksPerRank(), blockBytes);
    var made = new ArrayList<Rank>();
    try {
      for (int rank = 0; rank < config.ranks(); rank++) {
        made.add(make(rank, memory.allocate(regionBytes), rotation, events));
      }
      made.forEach(rank -> rank.scheduler.start(pacer));
    } catch (RuntimeException | Error failure) {
      made.forEach(rank -> rank.scheduler.close());
      throw failure;
    }
    ranks = List.copyOf(made);
    return new EngineDescription(
        admission.contextLength(),
        config.blockTokens(),
        config.blocksPerRank(),
        config.ranks(),
        config.maxRunning(),
        PassPlan.maxRows(config),
        true);
  }

  /** Takes ownership of {@code region} when called. */
  private Rank make(int rank, HostMemory.Region region, Rotation rotation, KvEventSink events) {
    var shape = model.weights().shape();
    KvStore store;
    try {
      store = new KvStore(region, shape, config.blockTokens());
    } catch (RuntimeException | Error failure) {
      region.close();
      throw failure;
    }
    try {
      var pool = new BlockPool(rank, config.blocksPerRank(), store, events);
      var pass =
          new LlamaForwardPass(
              model.weights(), rotation, store, config.blockTokens(), PassPlan.maxRows(config));
      return new Rank(
          new LlamaRank(config, pool, pass, cancels), new Sampler.Scratch(shape.vocabulary()));
    } catch (RuntimeException | Error failure) {
      store.close();
      throw failure;
    }
  }

  @Override
  public Flow.Publisher<EngineOutput> generate(GenerateRequest request, RequestContext context) {
    requireOpen();
    int budget = admission.budget(request);
    var rank = rank(request.routing().rank());
    if (budget == 0) {
      var usage = new Usage(request.tokenIds().length, 0, 0);
      return TokenStream.of(EngineOutput.finish(FinishReason.LENGTH, usage));
    }
    var scope = CacheScope.of(request);
    var scheduler = rank.scheduler;
    var generation =
        new LlamaGeneration(
            request.tokenIds(),
            budget,
            ends(request),
            adapted(scope.adapter()),
            context,
            sampler(request, rank.scratch),
            new BlockTable(scheduler.pool(), hasher(scope)),
            config.streamBuffer(),
            scheduler::wake);
    generation.follow();
    try {
      scheduler.submit(generation);
    } catch (RuntimeException refused) {
      generation.unfollow();
      throw refused;
    }
    return generation.stream;
  }

  private AdaptedModel adapted(@Nullable String name) {
    var by = name == null ? unadapted : adapters.get(name);
    if (by == null) {
      throw new WorkerBusyException(
          "adapter '%s' is not loaded here; try another worker, or load it".formatted(name));
    }
    return by;
  }

  /**
   * {@inheritDoc} Merges the adapter into a copy of the weights: it takes memory for each matrix
   * that it changes.
   */
  @Override
  public void loadAdapter(String name, Path directory) {
    adapters.put(name, new AdaptedModel(LoraWeights.merged(model.weights(), directory)));
  }

  /**
   * {@inheritDoc} Ends generations that run with the adapter, so that they migrate, and empties the
   * caches: the next adapter of that name may be a different one.
   */
  @Override
  public void unloadAdapter(String name) {
    var gone = adapters.remove(name);
    if (gone != null) {
      gone.retire();
      clearCache();
    }
  }

  /** Returns a hasher that names blocks as routers do: names are equal only within one scope. */
  private BlockHasher hasher(CacheScope scope) {
    return scope.isCommon()
        ? hasher
        : BlockHasher.of(config.blockTokens(), scope.adapter(), scope.salt());
  }

  private void requireOpen() {
    if (ranks.isEmpty()) {
      throw closed
          ? TokenStream.shutDown()
          : new IllegalStateException("the engine was not started");
    }
    if (closed) {
      throw TokenStream.shutDown();
    }
  }

  private EndTokens ends(GenerateRequest request) {
    return EndTokens.of(request, model.ends(), model.weights().shape().vocabulary());
  }

  private Sampler sampler(GenerateRequest request, Sampler.Scratch scratch) {
    int vocabulary = model.weights().shape().vocabulary();
    return new Sampler(
        SamplingPlan.of(request, model.sampling(), vocabulary, seeds.getAsLong()),
        vocabulary,
        request.tokenIds(),
        request.migratedTokens(),
        request.output().logprobs(),
        ends(request).ids(),
        guide(request),
        scratch);
  }

  private @Nullable ChoiceGuide guide(GenerateRequest request) {
    var guided = request.sampling().guided();
    if (guided == null) {
      return null;
    }
    if (guided.json() != null
        || guided.regex() != null
        || guided.grammar() != null
        || guided.structuralTag() != null) {
      throw new InvalidRequestException("this engine guides choices, no other form");
    }
    if (guided.choice().isEmpty()) {
      return null;
    }
    var vocabulary = model.vocabulary();
    if (vocabulary == null) {
      throw new InvalidRequestException(
          "guided choices need a byte-level tokenizer.json beside the model");
    }
    return new ChoiceGuide(vocabulary, guided.choice());
  }

  private Rank rank(@Nullable Integer named) {
    var all = ranks;
    var asked = NamedRank.of(named, all.size());
    if (asked != null) {
      return all.get(asked);
    }
    var least = all.getFirst();
    for (var rank : all) {
      if (!rank.scheduler.ended()
          && (least.scheduler.ended() || rank.scheduler.live() < least.scheduler.live())) {
        least = rank;
      }
    }
    return least;
  }

  /**
   * Copies the cached leading blocks of {@code tokens} on {@code rank}: full blocks, up to the
   * first that is missing.
   *
   * @return the blocks, for the caller to close; null when none is cached
   * @throws io.dynamo.error.DeadlineExceededException when the rank does not run the task in time
   */
  public @Nullable KvBlocks export(int rank, int[] tokens, Deadline deadline)
      throws InterruptedException {
    requireOpen();
    return blocks.exportCached(rank(rank).scheduler, tokens.clone(), deadline);
  }

  @Override
  public KvLayout layout() {
    return layout;
  }

  @Override
  public @Nullable KvBlocks exportBlocks(RequestContext generation, Deadline deadline)
      throws InterruptedException {
    requireOpen();
    for (var rank : ranks) {
      var found =
          blocks.exportRunning(
              rank.scheduler, at -> at.running(generation.cancellation()), deadline);
      if (found != null) {
        return found;
      }
    }
    return null;
  }

  @Override
  public int importBlocks(KvBlocks from, Deadline deadline) throws InterruptedException {
    requireOpen();
    from.requireIntact(layout);
    return blocks.load(rank(null).scheduler, from, deadline);
  }

  @Override
  public void clearCache() {
    ranks.forEach(rank -> rank.scheduler.clear());
  }

  /** Returns how often sequences had to release their blocks so that others could continue. */
  public long preemptions() {
    return ranks.stream().mapToLong(rank -> rank.scheduler.preemptions()).sum();
  }

  @Override
  public int running() {
    return ranks.stream().mapToInt(rank -> rank.scheduler.live()).sum();
  }

  @Override
  public void reportPassesTo(PassReport.Listener listener) {
    ranks.forEach(rank -> rank.scheduler.reportPassesTo(listener));
  }

  @Override
  public List<RankLoad> ranks() {
    return ranks.stream().map(rank -> rank.scheduler.load()).toList();
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
    ranks.forEach(rank -> rank.scheduler.close());
  }
}
