package io.dynamo.worker.kv;

import io.dynamo.kv.HeldTiers;
import io.dynamo.kv.KvEvent;
import io.dynamo.kv.KvQuery;
import io.dynamo.kv.KvReply;
import io.dynamo.kv.RankEvent;
import io.dynamo.kv.StorageTier;
import io.dynamo.kv.WorkerRank;
import io.dynamo.token.HashLongMap;
import io.dynamo.token.SequenceHash;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The log of one rank's cache changes: gives them their ids, and knows the blocks held after the
 * last of them. The engine's thread {@linkplain #add adds} changes; senders and queries number and
 * apply them, under a lock.
 *
 * <p>No change is ever lost. The engine only puts it on a queue; when the queue is full because no
 * other thread has emptied it, the engine's thread does that work itself before it continues.
 */
final class RankLog {
  /** The maximum number of changes that wait for their ids. */
  static final int QUEUED_CHANGES = 4096;

  /** The number of events kept for a sender that falls behind; older ones are lost to it. */
  static final int KEPT_EVENTS = 4096;

  /**
   * The number of latest events that answer a query; a query for older ones gets a dump of all
   * blocks.
   */
  static final int ANSWERED_EVENTS = 1024;

  /**
   * Consecutive events.
   *
   * @param skipped how many events before them were no longer kept
   * @param lastId id of the last event in the batch
   */
  record Batch(List<RankEvent> events, long skipped, long lastId) {}

  /** A change without its id. */
  private record TierChange(StorageTier tier, KvEvent event) {}

  private final WorkerRank rank;
  private final int maxReplyBlocks;
  private final ArrayBlockingQueue<TierChange> changes = new ArrayBlockingQueue<>(QUEUED_CHANGES);
  private final ReentrantLock lock = new ReentrantLock();
  // guarded by lock
  private final Map<StorageTier, StoreCounts> stores = new EnumMap<>(StorageTier.class);
  private final HeldTiers held = new HeldTiers();
  private final @Nullable RankEvent[] kept = new RankEvent[KEPT_EVENTS]; // at id % length
  private long lastId;

  /**
   * @param maxReplyBlocks the most blocks that one reply may contain
   */
  RankLog(WorkerRank rank, int maxReplyBlocks) {
    this.rank = rank;
    this.maxReplyBlocks = maxReplyBlocks;
  }

  /** Counts how often each block of a tier was stored and not yet removed. */
  private static final class StoreCounts {
    private final HashLongMap counts = new HashLongMap();

    void stored(SequenceHash block) {
      counts.put(block.value(), counts.getOrDefault(block.value(), 0) + 1);
    }

    /**
     * Counts a removal.
     *
     * @return whether the block is gone; true also when it was never stored
     */
    boolean removed(SequenceHash block) {
      long count = counts.getOrDefault(block.value(), 1);
      if (count > 1) {
        counts.put(block.value(), count - 1);
        return false;
      }
      counts.remove(block.value());
      return true;
    }
  }

  /**
   * Queues a change, whose event's id is ignored; a clear is one of all tiers. Called by the
   * engine's thread; waits for the lock only when the queue is full.
   */
  void add(StorageTier tier, KvEvent event) {
    var change = new TierChange(tier, event);
    while (!changes.offer(change)) {
      lock.lock();
      try {
        takeIn();
      } finally {
        lock.unlock();
      }
    }
  }

  private void takeIn() {
    for (var change = changes.poll(); change != null; change = changes.poll()) {
      var event = numbered(change);
      if (event != null) {
        lastId = event.id();
        var ranked = RankEvent.of(rank, change.tier(), event);
        kept[slot(lastId)] = ranked;
        held.apply(ranked.tier(), event);
      }
    }
  }

  private static int slot(long id) {
    return (int) (id % KEPT_EVENTS);
  }

  /** Returns the change under the next id; null when it has no effect outside the rank. */
  private @Nullable KvEvent numbered(TierChange change) {
    long id = lastId + 1;
    return switch (change.event()) {
      case KvEvent.Stored stored -> {
        var counts = counts(change.tier());
        stored.blocks().forEach(block -> counts.stored(block.hash()));
        yield new KvEvent.Stored(id, stored.parent(), stored.blocks());
      }
      case KvEvent.Removed removed -> {
        var counts = counts(change.tier());
        var gone = new ArrayList<SequenceHash>(removed.blocks().size());
        for (var block : removed.blocks()) {
          if (counts.removed(block)) {
            gone.add(block);
          }
        }
        yield gone.isEmpty() ? null : new KvEvent.Removed(id, gone);
      }
      case KvEvent.Cleared _ -> {
        stores.clear();
        yield new KvEvent.Cleared(id);
      }
    };
  }

  private StoreCounts counts(StorageTier tier) {
    return stores.computeIfAbsent(tier, _ -> new StoreCounts());
  }

  private RankEvent kept(long id) {
    var event = kept[slot(id)];
    if (event == null || event.event().id() != id) {
      throw new IllegalStateException("event " + id + " of rank " + rank + " is not kept");
    }
    return event;
  }

  /**
   * Returns the events after {@code sentId}, within the bounds but at least one if there is any.
   */
  Batch after(long sentId, int maxEvents, int maxBlocks) {
    lock.lock();
    try {
      takeIn();
      long first = Math.max(sentId + 1, lastId - KEPT_EVENTS + 1);
      var batch = new ArrayList<RankEvent>();
      int blocks = 0;
      for (long id = first; id <= lastId && batch.size() < maxEvents; id++) {
        var event = kept(id);
        blocks += blocksOf(event.event());
        if (!batch.isEmpty() && blocks > maxBlocks) {
          break;
        }
        batch.add(event);
      }
      return new Batch(batch, first - sentId - 1, first + batch.size() - 1);
    } finally {
      lock.unlock();
    }
  }

  private static int blocksOf(KvEvent event) {
    return switch (event) {
      case KvEvent.Stored stored -> stored.blocks().size();
      case KvEvent.Removed removed -> removed.blocks().size();
      case KvEvent.Cleared _ -> 0;
    };
  }

  /** Answers a query; the answer includes at least all changes added before this call. */
  KvReply answer(KvQuery query) {
    if (!query.rank().equals(rank)) {
      return new KvReply.Refused(
          "rank %s was asked for; this source is rank %s".formatted(query.rank(), rank));
    }
    var start = query.startId();
    var end = query.endId();
    if (start != null && end != null && Long.compareUnsigned(end, start) < 0) {
      return new KvReply.InvalidRange(start, end);
    }
    lock.lock();
    try {
      takeIn();
      if (start == null) {
        return dump(query);
      }
      if (Long.compareUnsigned(start, lastId) > 0) {
        return new KvReply.TooNew(start, end == null ? lastId : end, lastId);
      }
      var events = start <= lastId - ANSWERED_EVENTS || start == 0 ? null : since(start);
      return events == null ? dump(query) : new KvReply.Events(events, lastId);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns the events from {@code start} on; null when they contain more blocks than a reply may.
   */
  private @Nullable List<RankEvent> since(long start) {
    var events = new ArrayList<RankEvent>();
    long blocks = 0;
    for (long id = start; id <= lastId; id++) {
      var event = kept(id);
      blocks += blocksOf(event.event());
      events.add(event);
    }
    return blocks > maxReplyBlocks ? null : events;
  }

  private KvReply dump(KvQuery query) {
    if (held.onDevice() <= maxReplyBlocks) {
      return new KvReply.TreeDump(held.dump(rank, maxReplyBlocks), lastId);
    }
    var message =
        "rank %s holds %d blocks on its device, more than the %d that fit one frame; raise the frame size"
            .formatted(rank, held.onDevice(), maxReplyBlocks);
    return query.takesDumpFailed()
        ? new KvReply.TreeDumpFailed(lastId, message)
        : new KvReply.Refused(message);
  }
}
