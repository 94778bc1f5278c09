package io.dynamo.router.index;

import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.KvEvent;
import io.dynamo.kv.StoredBlock;
import io.dynamo.kv.WorkerRank;
import io.dynamo.token.BlockHash;
import io.dynamo.token.BlockHashes;
import io.dynamo.token.HashLongMap;
import io.dynamo.token.SequenceHash;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Predicts which blocks each rank caches from the router's own decisions: each placed prompt counts
 * as cached for a fixed time. Placing a prompt again restarts this time. Safe for concurrent use;
 * matching takes a lock only when something has expired.
 */
public final class PredictedIndex {
  /**
   * The greatest number of blocks of unexpired prompts; beyond it the oldest prompts are removed
   * early.
   */
  static final int MAX_BLOCKS = 1 << 22;

  private static final long TICK_NANOS = 100_000_000; // Dynamo's granularity of expiry

  private record PlacedPrompt(long endTick, WorkerRank rank, BlockHashes prompt) {}

  private final PrefixTableIndexer index = new PrefixTableIndexer();
  private final long ttlNanos;
  private final LongSupplier nanoClock;
  private final long epochNanos;
  private final Object lock = new Object();
  private final ArrayDeque<PlacedPrompt> placed = new ArrayDeque<>(); // by expiry; guarded by lock
  private final Map<WorkerRank, HashLongMap> ends = new HashMap<>(); // hash -> tick; by lock
  private int waitingBlocks; // sum over placed; guarded by lock
  private volatile long firstEnd = Long.MAX_VALUE; // written under lock

  /**
   * Creates an empty index.
   *
   * @param ttl how long a placed prompt counts as cached
   * @param nanoClock as {@link System#nanoTime()}
   */
  public PredictedIndex(Duration ttl, LongSupplier nanoClock) {
    this.ttlNanos = ttl.toNanos();
    this.nanoClock = nanoClock;
    this.epochNanos = nanoClock.getAsLong();
  }

  /** Records that {@code rank} will compute {@code prompt}. */
  public void placed(WorkerRank rank, BlockHashes prompt) {
    if (prompt.length() == 0) {
      return;
    }
    var blocks = new ArrayList<StoredBlock>(prompt.length());
    for (int i = 0; i < prompt.length(); i++) {
      blocks.add(
          new StoredBlock(new SequenceHash(prompt.sequence(i)), new BlockHash(prompt.block(i))));
    }
    synchronized (lock) {
      long now = nanoClock.getAsLong() - epochNanos;
      expire(now / TICK_NANOS);
      long end = Math.ceilDiv(now + ttlNanos, TICK_NANOS);
      var mine = ends.computeIfAbsent(rank, _ -> new HashLongMap());
      for (int i = 0; i < prompt.length(); i++) {
        mine.put(prompt.sequence(i), end);
      }
      placed.add(new PlacedPrompt(end, rank, prompt));
      waitingBlocks += prompt.length();
      var _ = index.apply(rank, new KvEvent.Stored(0, null, blocks)); // never fails: a root's child
      while (waitingBlocks > MAX_BLOCKS && placed.size() > 1) {
        forgetFirst(Long.MAX_VALUE);
      }
      firstEnd = placed.element().endTick();
    }
  }

  private void expire(long tick) {
    while (!placed.isEmpty() && placed.element().endTick() <= tick) {
      forgetFirst(tick);
    }
    firstEnd = placed.isEmpty() ? Long.MAX_VALUE : placed.element().endTick();
  }

  /**
   * Removes the oldest prompt and those of its blocks that no later prompt keeps and that end by
   * {@code tick}.
   */
  private void forgetFirst(long tick) {
    var first = placed.remove();
    waitingBlocks -= first.prompt().length();
    var mine = ends.get(first.rank());
    if (mine == null) {
      return;
    }
    var gone = new ArrayList<SequenceHash>();
    for (int i = 0; i < first.prompt().length(); i++) {
      long hash = first.prompt().sequence(i);
      long end = mine.getOrDefault(hash, Long.MAX_VALUE);
      if (end <= Math.min(tick, first.endTick())) {
        mine.remove(hash);
        gone.add(new SequenceHash(hash));
      }
    }
    if (mine.size() == 0) {
      ends.remove(first.rank());
    }
    if (!gone.isEmpty()) {
      // Children are removed with their parents, so later hashes may be unknown by then.
      var _ = index.apply(first.rank(), new KvEvent.Removed(0, List.copyOf(gone)));
    }
  }

  /** Returns how many leading blocks of {@code request} each rank probably has. */
  public OverlapScores match(BlockHashes request) {
    long tick = (nanoClock.getAsLong() - epochNanos) / TICK_NANOS;
    if (firstEnd <= tick) {
      synchronized (lock) {
        expire(tick);
      }
    }
    return index.match(request);
  }

  /** Forgets every block of {@code worker}, on all its ranks. */
  public void forget(InstanceId worker) {
    synchronized (lock) {
      ends.keySet().removeIf(rank -> rank.worker().equals(worker));
      index.forget(worker);
    }
  }

  /** Returns the workers with at least one block in the index. */
  public List<InstanceId> workers() {
    synchronized (lock) {
      return ends.keySet().stream().map(WorkerRank::worker).distinct().toList();
    }
  }

  /** Returns the number of distinct prefixes; may lag. */
  public int size() {
    return index.size();
  }
}
