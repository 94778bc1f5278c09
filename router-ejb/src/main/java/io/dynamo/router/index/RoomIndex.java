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
 * ended requests are evicted, last blocks of a prompt first. Safe for concurrent use; matching
 * takes no lock.
 */
public final class RoomIndex {
  /** Keeps the prompt of an open request in the index. */
  @FunctionalInterface
  public interface Hold extends AutoCloseable {
    /** A hold of no blocks. */
    Hold NONE = () -> {};

    /** Records that the request has ended. Idempotent. */
    @Override
    void close();
  }

  /** The blocks that one rank probably has. A child has never been used later than its parent. */
  private static final class Room {
    final HashLongMap users = new HashLongMap(); // hash -> open requests that have it; 0 if unused
    final LinkedHashSet<Long> unused = new LinkedHashSet<>(); // least recently used first
  }

  private final PrefixTableIndexer index = new PrefixTableIndexer();
  private final LongConsumer onEviction;
  private final Map<WorkerRank, Room> rooms = new HashMap<>(); // guarded by itself
  private volatile int holds; // written under rooms

  /**
   * Creates an empty index.
   *
   * @param onEviction receives the number of blocks that were evicted; must not block
   */
  public RoomIndex(LongConsumer onEviction) {
    this.onEviction = onEviction;
  }

  /**
   * Records that {@code rank} will compute {@code prompt}.
   *
   * @param blocks capacity of the rank in blocks; at least 1
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
      var _ = index.apply(rank, new KvEvent.Stored(0, null, named(prompt))); // never fails
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
        return; // the worker is gone
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

  /** Returns how many leading blocks of {@code request} each rank probably has. */
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

  /** Returns the workers with at least one block in the index. */
  public List<InstanceId> workers() {
    synchronized (rooms) {
      return rooms.keySet().stream().map(WorkerRank::worker).distinct().toList();
    }
  }

  /** Returns the number of open requests. */
  public int holds() {
    return holds;
  }

  /** Returns the number of distinct prefixes; may lag. */
  public int size() {
    return index.size();
  }
}
