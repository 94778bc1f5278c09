package io.dynamo.router.endpoint;

import io.dynamo.config.router.RouterSettings;
import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.WorkerRank;
import io.dynamo.router.RouteRequest;
import io.dynamo.router.index.CachedPrefixes;
import io.dynamo.router.index.OverlapScores;
import io.dynamo.router.index.PredictedIndex;
import io.dynamo.router.index.RoomIndex;
import io.dynamo.router.load.RankLoads;
import io.dynamo.router.load.Work;
import io.dynamo.router.pool.PoolHits;
import io.dynamo.router.pool.SharedPool;
import io.dynamo.router.select.CostModel;
import io.dynamo.router.select.RankSelector;
import io.dynamo.runtime.EndpointInstances;
import io.dynamo.token.BlockHashes;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Compares ranks by the prefixes that they have cached and by their load. */
final class PrefixStrategy implements Strategy {
  private static final BlockHashes NO_BLOCKS = BlockHashes.ofBlocks();

  /**
   * The caches that workers have reported.
   *
   * @param ranks the caches of single ranks
   * @param shared the cache that all workers share; null where they share none
   */
  record Caches(CachedPrefixes ranks, @Nullable SharedPool shared) {}

  private final RouterSettings settings;
  private final PromptHashing hashing;
  private final RankSelector selector;
  private final EndpointInstances instances;
  private final CachedPrefixes cached;
  private final @Nullable SharedPool pool; // null where workers share no cache
  private final boolean followsEvents;
  private final @Nullable PredictedIndex
      predicted; // beside events; null where nothing is predicted
  private final @Nullable PredictedIndex decided; // without events; null where nothing is looked up
  private final @Nullable RoomIndex byRoom; // without events; null where capacity is not used
  private final PrefixMeters meters;
  private final LongSupplier nanoClock;

  PrefixStrategy(
      RouterSettings settings,
      PromptHashing hashing,
      EndpointInstances instances,
      RankSelector selector,
      Caches caches,
      PrefixMeters meters,
      LongSupplier nanoClock) {
    this.settings = settings;
    this.hashing = hashing;
    this.selector = selector;
    this.instances = instances;
    this.cached = caches.ranks();
    this.pool = caches.shared();
    this.meters = meters;
    this.nanoClock = nanoClock;
    var indexing = settings.indexing();
    boolean looks = settings.costs().overlapScoreCredit() > 0;
    this.followsEvents = indexing.kvEvents();
    var ttl = indexing.predictedTtl();
    this.predicted =
        looks && followsEvents && ttl != null ? new PredictedIndex(ttl, nanoClock) : null;
    this.decided = looks ? new PredictedIndex(indexing.ttl(), nanoClock) : null;
    this.byRoom =
        looks && indexing.policy() == RouterSettings.CachePolicy.LRU
            ? new RoomIndex(meters.roomEvictions()::add)
            : null;
  }

  @Override
  public int indexBlocks() {
    return cached.size()
        + (predicted == null ? 0 : predicted.size())
        + (decided == null ? 0 : decided.size())
        + (byRoom == null ? 0 : byRoom.size());
  }

  @Override
  public int holds() {
    return byRoom == null ? 0 : byRoom.holds();
  }

  /** Removes the blocks that lost workers were believed to have. */
  @Override
  public void workersChanged() {
    var live = new HashSet<InstanceId>();
    instances.live().forEach(instance -> live.add(instance.id()));
    if (predicted != null) {
      gone(predicted.workers(), live).forEach(predicted::forget);
    }
    if (decided != null) {
      gone(decided.workers(), live).forEach(decided::forget);
    }
    if (byRoom != null) {
      gone(byRoom.workers(), live).forEach(byRoom::forget);
    }
  }

  /** Updates the workers' shared cache, since their cards may name another store. */
  @Override
  public void cardsChanged() {
    if (pool != null) {
      pool.cardsChanged();
    }
  }

  private static List<InstanceId> gone(List<InstanceId> known, Set<InstanceId> live) {
    return known.stream().filter(worker -> !live.contains(worker)).toList();
  }

  @Override
  public Plan plan(RouteRequest request) {
    return new PrefixPlan(request);
  }

  @Override
  public void close() {
    cached.close();
    if (pool != null) {
      pool.close();
    }
  }

  private final class PrefixPlan implements Plan {
    private final RouteRequest request;
    private final BlockHashes hashes;
    private final CostModel.Prompt prompt;
    private final Work work;
    private CachedPrefixes.PrefixMatches found = CachedPrefixes.PrefixMatches.NOTHING;
    private PoolHits shared = PoolHits.NONE;
    private OverlapScores guesses = OverlapScores.NONE;
    private OverlapScores decisions = OverlapScores.NONE;
    private OverlapScores guessesByRoom = OverlapScores.NONE;
    private CostModel.Overlaps overlaps = new CostModel.Overlaps(new int[0]);
    private boolean looked;
    private long lookedAt;
    private int most;

    PrefixPlan(RouteRequest request) {
      this.request = request;
      var hints = request.hints();
      var tracking = settings.tracking();
      long begin = nanoClock.getAsLong();
      this.hashes = hashing.cached(request);
      meters.overhead.hashing(nanoClock.getAsLong() - begin);
      var override = hints.override();
      this.prompt =
          new CostModel.Prompt(
              request.tokenIds().length,
              request.blockTokens(),
              override.trackPrefillTokens() == null
                  ? tracking.prefillTokens()
                  : override.trackPrefillTokens(),
              false);
      boolean reuse =
          override.assumeKvReuse() == null ? tracking.assumeKvReuse() : override.assumeKvReuse();
      this.work =
          new Work(
              request.requestId(),
              !tracking.activeBlocks()
                  ? NO_BLOCKS
                  : reuse ? hashing.tracked(request, hashes) : unshared(hashes.length()),
              request.tokenIds().length,
              request.blockTokens(),
              tracking.activeBlocks() && tracking.outputBlocks(),
              hints.expectedOutputTokens());
    }

    /** Returns random blocks that no other request has. */
    private static BlockHashes unshared(int blocks) {
      return BlockHashes.ofBlocks(ThreadLocalRandom.current().longs(blocks).toArray());
    }

    @Override
    public Work work() {
      return work;
    }

    @Override
    public boolean tracksPrefill() {
      return prompt.tracked();
    }

    @Override
    public void look(RankCandidates candidates) {
      long begin = nanoClock.getAsLong();
      long refresh = settings.queueing().overlapRefresh().toNanos();
      if (!looked || (refresh > 0 && begin - lookedAt >= refresh)) {
        found = cached.find(hashes);
        guesses = predicted == null ? OverlapScores.NONE : predicted.match(hashes);
        decisions = decided == null ? OverlapScores.NONE : decided.match(hashes);
        guessesByRoom = byRoom == null ? OverlapScores.NONE : byRoom.match(hashes);
        looked = true;
        lookedAt = begin;
        meters.overhead.matching(nanoClock.getAsLong() - begin);
        if (pool != null) {
          shared = share(pool);
        }
      }
      int size = candidates.size();
      overlaps =
          pool == null
              ? new CostModel.Overlaps(new int[size])
              : new CostModel.Overlaps(new int[size], new int[size], new int[size], new int[size]);
      var device = overlaps.device();
      most = 0;
      for (int i = 0; i < device.length; i++) {
        var rank = candidates.ranks().get(i);
        int believed =
            Math.max(
                guesses.blocks(rank), Math.max(decisions.blocks(rank), guessesByRoom.blocks(rank)));
        device[i] = Math.max(found.onDevice(rank), believed);
        most = Math.max(most, device[i]);
      }
      found.extend(candidates.ranks(), overlaps.host(), overlaps.disk());
      for (int i = 0; i < device.length; i++) {
        // Blocks that are only predicted to be on the device are not counted again below it.
        int beyond = device[i] - found.onDevice(candidates.ranks().get(i));
        int lessHost = Math.min(beyond, overlaps.host()[i]);
        overlaps.host()[i] -= lessHost;
        overlaps.disk()[i] = Math.max(0, overlaps.disk()[i] - (beyond - lessHost));
      }
      for (int i = 0; i < overlaps.shared().length; i++) {
        overlaps.shared()[i] = shared.beyond(device[i]);
      }
    }

    private static boolean isNone(@Nullable String name) {
      return name == null || name.isEmpty();
    }

    /**
     * Looks up the prompt in the shared cache. Its pages are named by their tokens alone, so
     * prompts with a salt or an adapter are not looked up.
     */
    private PoolHits share(SharedPool with) {
      var hints = request.hints();
      long begin = nanoClock.getAsLong();
      var hits =
          isNone(hints.cacheSalt()) && isNone(hints.loraName())
              ? with.find(request.tokenIds(), request.blockTokens())
              : PoolHits.NONE;
      meters.overhead.sharedCache(nanoClock.getAsLong() - begin);
      return hits;
    }

    @Override
    public Verdict choose(RankCandidates candidates, RankLoads loads) {
      var selection = selector.choose(prompt, overlaps, loads, candidates.factors());
      int chosen = selection.candidate();
      return new Verdict(
          chosen,
          selector.costs().tokensToPrefill(prompt, overlaps, chosen),
          selection.reason(),
          loads,
          overlaps,
          selection.terms());
    }

    @Override
    public RoomIndex.Hold placed(WorkerRank rank, WorkerTraits traits, Verdict verdict) {
      int held = verdict.overlapBlocks();
      meters.countOverlap(hashes.length(), most, held, prompt.blockTokens());
      if (pool != null) {
        meters.countShared(hashes.length(), shared.total(), shared.beyond(held));
      }
      if (followsEvents && !traits.hasUnreportedCache()) {
        if (predicted != null) {
          predicted.placed(rank, hashes);
        }
        return RoomIndex.Hold.NONE;
      }
      if (byRoom != null && traits.totalBlocks() > 0) {
        return byRoom.placed(rank, hashes, traits.totalBlocks());
      }
      if (byRoom != null) {
        meters.countRoomFallback();
      }
      if (decided != null) {
        decided.placed(rank, hashes);
      }
      return RoomIndex.Hold.NONE;
    }

    @Override
    public long cachedTokens() {
      return (long) most * prompt.blockTokens();
    }
  }
}
