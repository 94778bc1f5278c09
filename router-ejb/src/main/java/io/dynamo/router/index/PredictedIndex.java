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
 * as cached for a fixed time. Placing a prompt again begins its while anew. Safe for concurrent
 * use; matching takes a lock only when something has expired.
 */
public final class PredictedIndex {
  /** Blocks that may await their end; beyond it the oldest prompts are forgotten early. */
  static final int MAX_BLOCKS = 1 << 22;

  private static final long TICK_NANOS = 100_000_000; // Dynamo's granularity of expiry

  private record PlacedPrompt(long endTick, WorkerRank rank, BlockHashes prompt) {}

  private final PrefixTableIndexer index = new PrefixTableIndexer();
  private final long ttlNanos;
  private final LongSupplier nanoClock;
  private final long epochNanos;
  private final Object lock = new Object();
  private final ArrayDeque<PlacedPrompt> placed = new ArrayDeque<>(); // by end; guarded by lock
  private final Map<WorkerRank, HashLongMap> ends = new HashMap<>(); // hash -> tick; by lock
  private int waitingBlocks; // of placed; guarded by lock
  private volatile long firstEnd = Long.MAX_VALUE; // written under lock

  /**
   * @param nanoClock as {@link System#nanoTime()}
   */
  public PredictedIndex(Duration ttl, LongSupplier nanoClock) {
    this.ttlNanos = ttl.toNanos();
    this.nanoClock = nanoClock;
    this.epochNanos = nanoClock.getAsLong();
  }

  /** {@code rank} is given {@code prompt} to compute. */
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
      var _ = index.apply(rank, new KvEvent.Stored(0, null, blocks)); // a root is always there
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

  /** Forgets what the oldest prompt alone has kept, the blocks that end by {@code tick}. */
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
      // Children go with their parents, so later names may be unknown by then.
      var _ = index.apply(first.rank(), new KvEvent.Removed(0, List.copyOf(gone)));
    }
  }

  /** Leading blocks of {@code request} that each rank probably holds. */
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

  /** Workers that something is believed of. */
  public List<InstanceId> workers() {
    synchronized (lock) {
      return ends.keySet().stream().map(WorkerRank::worker).distinct().toList();
    }
  }

  /** Distinct prefixes; recent. */
  public int size() {
    return index.size();
  }
}
