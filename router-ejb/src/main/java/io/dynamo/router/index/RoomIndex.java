package io.dynamo.router.index;

import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.KvEvent;
import io.dynamo.kv.StoredBlock;
import io.dynamo.kv.WorkerRank;
import io.dynamo.token.BlockHash;
import io.dynamo.token.BlockHashes;
import io.dynamo.token.HashLongMap;
import io.dynamo.token.SequenceHash;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongConsumer;

/**
 * Predicts which blocks each rank caches from the router's own decisions and the rank's capacity in
 * blocks: prompts of open requests stay; when a rank is full, the least recently used blocks of
 * ended requests go, last blocks of a prompt first. Safe for concurrent use; matching takes no
 * lock.
 */
public final class RoomIndex {
  /** The prompt of an open request. */
  @FunctionalInterface
  public interface Hold extends AutoCloseable {
    /** Of nothing. */
    Hold NONE = () -> {};

    /** The request has ended. Idempotent. */
    @Override
    void close();
  }

  /**
   * The blocks that one rank probably holds. Children are never longer unused than their parents.
   */
  private static final class Room {
    final HashLongMap users = new HashLongMap(); // hash -> open requests that have it; all blocks
    final LinkedHashSet<Long> unused = new LinkedHashSet<>(); // longest first
  }

  private final PrefixTableIndexer index = new PrefixTableIndexer();
  private final LongConsumer onEviction;
  private final Map<WorkerRank, Room> rooms = new HashMap<>(); // guarded by itself
  private volatile int holds; // written under rooms

  /**
   * @param onEviction receives the number of blocks that were evicted; must not block
   */
  public RoomIndex(LongConsumer onEviction) {
    this.onEviction = onEviction;
  }

  /**
   * {@code rank} is given {@code prompt} to compute.
   *
   * @param blocks that the rank has room for; at least 1
   */
  public Hold placed(WorkerRank rank, BlockHashes prompt, long blocks) {
    if (prompt.length() == 0) {
      return Hold.NONE;
    }
    synchronized (rooms) {
      var room = rooms.computeIfAbsent(rank, _ -> new Room());
      for (int i = 0; i < prompt.length(); i++) {
        long hash = prompt.sequence(i);
        long users = room.users.getOrDefault(hash, 0);
        room.users.put(hash, users + 1);
        if (users == 0) {
          room.unused.remove(hash);
        }
      }
      evict(rank, room, blocks);
      var _ = index.apply(rank, new KvEvent.Stored(0, null, named(prompt))); // a root is there
      holds++;
      var open = new AtomicBoolean(true);
      return () -> {
        if (open.compareAndSet(true, false)) {
          release(rank, room, prompt);
        }
      };
    }
  }

  private static List<StoredBlock> named(BlockHashes prompt) {
    var blocks = new ArrayList<StoredBlock>(prompt.length());
    for (int i = 0; i < prompt.length(); i++) {
      blocks.add(
          new StoredBlock(new SequenceHash(prompt.sequence(i)), new BlockHash(prompt.block(i))));
    }
    return blocks;
  }

  private void evict(WorkerRank rank, Room room, long blocks) {
    var gone = new ArrayList<SequenceHash>();
    while (room.users.size() > blocks && !room.unused.isEmpty()) {
      long hash = room.unused.removeFirst();
      room.users.remove(hash);
      gone.add(new SequenceHash(hash));
    }
    if (!gone.isEmpty()) {
      var _ = index.apply(rank, new KvEvent.Removed(0, gone));
      onEviction.accept(gone.size());
    }
  }

  private void release(WorkerRank rank, Room room, BlockHashes prompt) {
    synchronized (rooms) {
      holds--;
      if (rooms.get(rank) != room) {
        return; // the worker has gone
      }
      for (int i = prompt.length() - 1; i >= 0; i--) {
        long hash = prompt.sequence(i);
        long users = room.users.getOrDefault(hash, 0) - 1;
        room.users.put(hash, users);
        if (users == 0) {
          room.unused.addLast(hash);
        }
      }
    }
  }

  /** Leading blocks of {@code request} that each rank probably holds. */
  public OverlapScores match(BlockHashes request) {
    return index.match(request);
  }

  /** Forgets every block of {@code worker}, on all its ranks. */
  public void forget(InstanceId worker) {
    synchronized (rooms) {
      rooms.keySet().removeIf(rank -> rank.worker().equals(worker));
      index.forget(worker);
    }
  }

  /** Workers that something is believed of. */
  public List<InstanceId> workers() {
    synchronized (rooms) {
      return rooms.keySet().stream().map(WorkerRank::worker).distinct().toList();
    }
  }

  /** Open requests. */
  public int holds() {
    return holds;
  }

  /** Distinct prefixes; recent. */
  public int size() {
    return index.size();
  }
}
