package io.dynamo.worker.engine.llamacpp;

import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.RoutingHints;
import io.dynamo.model.RenderedSample;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.request.RequestContext;
import io.dynamo.worker.engine.Engine;
import io.dynamo.worker.engine.EngineDescription;
import io.dynamo.worker.engine.KvEventSink;
import io.dynamo.worker.engine.LoadReport;
import io.dynamo.worker.engine.NamedRank;
import io.dynamo.worker.engine.RankLoad;
import io.dynamo.worker.engine.SampleReport;
import io.dynamo.worker.engine.ServerMetrics;
import io.dynamo.worker.engine.sampling.GenerationDefaults;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Several llama.cpp servers with the same model as the ranks of one engine, numbered in the order
 * of their addresses. Safe for concurrent use. A request without a rank goes to the server with the
 * fewest generations of this engine; one that could not be reached a moment ago comes last.
 */
public final class LlamaCppRanks implements Engine, LoadReport, SampleReport {
  private static final long AVOIDED_NANOS = Duration.ofSeconds(5).toNanos();

  private final List<LlamaCppConfig> configs;
  private final List<LlamaCppEngine> ranks;
  private final LongSupplier nanoTime;
  private final AtomicLongArray lostNanos; // when a server could not be reached

  /**
   * @param loops owned by the caller, who closes them after this engine
   * @param configs one for each server; all but the address alike
   * @param seeds gives the seeds of requests without one; called on any thread
   * @param nanoTime as {@link System#nanoTime()}
   */
  public LlamaCppRanks(
      EventLoops loops,
      List<LlamaCppConfig> configs,
      GenerationDefaults defaults,
      LongSupplier seeds,
      LongSupplier nanoTime) {
    this.configs = List.copyOf(configs);
    this.nanoTime = nanoTime;
    this.lostNanos = new AtomicLongArray(configs.size());
    var made = new ArrayList<LlamaCppEngine>();
    for (int i = 0; i < configs.size(); i++) {
      int rank = i;
      lostNanos.set(rank, nanoTime.getAsLong() - AVOIDED_NANOS);
      made.add(
          new LlamaCppEngine(
              loops,
              configs.get(rank),
              defaults,
              seeds,
              () -> lostNanos.set(rank, nanoTime.getAsLong())));
    }
    this.ranks = List.copyOf(made);
  }

  /**
   * {@inheritDoc} Waits until every server has loaded its model. Each rank is described by the
   * least that any server has.
   *
   * @throws IllegalStateException when a server is not ready in time or cuts text into other tokens
   *     than the first, or the engine is closed meanwhile
   */
  @Override
  public EngineDescription start(KvEventSink events) {
    EngineDescription least = null;
    for (int rank = 0; rank < ranks.size(); rank++) {
      var next = ranks.get(rank).start(events);
      requireSameTokens(rank);
      least = least == null ? next : least(least, next);
    }
    return Objects.requireNonNull(least);
  }

  private void requireSameTokens(int rank) {
    var first = ranks.getFirst().renderedSample();
    var own = ranks.get(rank).renderedSample();
    if (first != null && own != null && !first.equals(own)) {
      throw new IllegalStateException(
          "the servers at %s and %s cut a sample text into other tokens: %s and %s; serve the same model at every address of dynamo.worker.llamacpp.url"
              .formatted(
                  configs.getFirst().server(),
                  configs.get(rank).server(),
                  first.tokenIds(),
                  own.tokenIds()));
    }
  }

  private EngineDescription least(EngineDescription one, EngineDescription other) {
    return new EngineDescription(
        Math.min(one.contextLength(), other.contextLength()),
        one.blockTokens(),
        Math.min(one.totalBlocks(), other.totalBlocks()),
        ranks.size(),
        Math.min(one.maxRunning(), other.maxRunning()),
        null,
        false);
  }

  @Override
  public Flow.Publisher<EngineOutput> generate(GenerateRequest request, RequestContext context) {
    var named = NamedRank.of(request.routing().rank(), ranks.size());
    int rank = named == null ? leastLoaded() : named;
    var hints = new RoutingHints(null, request.routing().passedOn()); // a server has one rank
    return ranks.get(rank).generate(request.routedTo(hints), context);
  }

  private int leastLoaded() {
    long now = nanoTime.getAsLong();
    int least = 0;
    long fewest = Long.MAX_VALUE;
    for (int rank = 0; rank < ranks.size(); rank++) {
      boolean avoided = now - lostNanos.get(rank) < AVOIDED_NANOS;
      long generations = ranks.get(rank).running() + (avoided ? Integer.MAX_VALUE : 0L);
      if (generations < fewest) {
        fewest = generations;
        least = rank;
      }
    }
    return least;
  }

  /** Returns the metrics of each rank's server. */
  public List<ServerMetrics> servers() {
    return List.copyOf(ranks);
  }

  @Override
  public int running() {
    return ranks.stream().mapToInt(LlamaCppEngine::running).sum();
  }

  /** {@inheritDoc} Empty until every server is ready. */
  @Override
  public List<RankLoad> ranks() {
    var loads = new ArrayList<RankLoad>();
    ranks.forEach(rank -> loads.addAll(rank.ranks()));
    return loads.size() == ranks.size() ? List.copyOf(loads) : List.of();
  }

  @Override
  public long cancelled() {
    return ranks.stream().mapToLong(LlamaCppEngine::cancelled).sum();
  }

  @Override
  public long lastCancelNanos() {
    long last = 0;
    boolean any = false;
    for (var rank : ranks) {
      if (rank.cancelled() > 0) {
        long nanos = rank.lastCancelNanos();
        last = any && last - nanos > 0 ? last : nanos;
        any = true;
      }
    }
    return last;
  }

  @Override
  public @Nullable RenderedSample renderedSample() {
    return ranks.getFirst().renderedSample();
  }

  @Override
  public void close() {
    ranks.forEach(LlamaCppEngine::close);
  }
}
