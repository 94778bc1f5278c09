package io.dynamo.worker.engine.llama;

import io.dynamo.token.SequenceHash;
import io.dynamo.worker.engine.KvEventSink;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One rank's KV blocks, by number. Used by the rank's thread only. A block is free, held by
 * sequences ({@code holders > 0}), or idle: cached, held by nobody, and next to be evicted when it
 * is the one that was released first.
 *
 * <p>Invariant: a cached block is full, its bytes are those of its name, and it is never written
 * again while it keeps that name.
 */
final class BlockPool implements AutoCloseable {
  static final int NONE = -1;

  private final int rank;
  private final KvStore store;
  private final KvEventSink events;
  private final int capacity;
  private final int[] holders;
  private final int[] checksums;
  private final @Nullable SequenceHash[] names; // null while not cached
  private final int[] older; // a ring of idle blocks; entry `capacity` is its head
  private final int[] newer;
  private final int[] free;
  private final Map<SequenceHash, Integer> cached = new HashMap<>();
  private int freeCount;
  private int idleCount;
  private long corrupt;

  BlockPool(int rank, int capacity, KvStore store, KvEventSink events) {
    this.rank = rank;
    this.capacity = capacity;
    this.store = store;
    this.events = events;
    this.holders = new int[capacity];
    this.checksums = new int[capacity];
    this.names = new SequenceHash[capacity];
    this.older = new int[capacity + 1];
    this.newer = new int[capacity + 1];
    this.free = new int[capacity];
    older[capacity] = capacity;
    newer[capacity] = capacity;
    for (int block = capacity - 1; block >= 0; block--) {
      free[freeCount++] = block;
    }
  }

  int rank() {
    return rank;
  }

  KvStore store() {
    return store;
  }

  KvEventSink events() {
    return events;
  }

  int capacity() {
    return capacity;
  }

  /** Blocks that {@link #take} can still give. */
  int available() {
    return freeCount + idleCount;
  }

  int heldBlocks() {
    return capacity - freeCount - idleCount;
  }

  int cachedBlocks() {
    return cached.size();
  }

  long corruptBlocks() {
    return corrupt;
  }

  /**
   * The block cached under {@code name}, or {@link #NONE}; a block that has lost its bytes is
   * dropped and counts as absent.
   */
  int find(SequenceHash name) {
    int block = cached.getOrDefault(name, NONE);
    if (block == NONE || store.checksum(block) == checksums[block]) {
      return block;
    }
    corrupt++;
    forget(block, name);
    if (holders[block] == 0) {
      unlink(block);
      free[freeCount++] = block;
    }
    events.removed(rank, List.of(name));
    return NONE;
  }

  /** Holds a cached block. */
  void hold(int block) {
    if (holders[block]++ == 0) {
      unlink(block);
    }
  }

  /** A block to write, held, or {@link #NONE}; the longest idle one goes when none is free. */
  int take() {
    if (freeCount == 0) {
      if (idleCount == 0) {
        return NONE;
      }
      int victim = newer[capacity];
      unlink(victim);
      free[freeCount++] = victim;
      var name = names[victim];
      if (name != null) {
        forget(victim, name);
        events.removed(rank, List.of(name));
      }
    }
    int block = free[--freeCount];
    holders[block] = 1;
    return block;
  }

  /**
   * Caches a held block that is full now, unless its like is cached already.
   *
   * @return the block to use from now on: {@code block}, or the one that was there, held; both have
   *     the same bytes
   */
  int seal(int block, SequenceHash name) {
    int other = find(name);
    if (other != NONE) {
      hold(other);
      release(block);
      return other;
    }
    checksums[block] = store.checksum(block);
    names[block] = name;
    cached.put(name, block);
    return block;
  }

  /** Gives up one hold. */
  void release(int block) {
    if (--holders[block] > 0) {
      return;
    }
    if (names[block] == null) {
      free[freeCount++] = block;
    } else {
      int newest = older[capacity];
      older[block] = newest;
      newer[block] = capacity;
      newer[newest] = block;
      older[capacity] = block;
      idleCount++;
    }
  }

  private void forget(int block, SequenceHash name) {
    cached.remove(name);
    names[block] = null;
  }

  private void unlink(int block) {
    newer[older[block]] = newer[block];
    older[newer[block]] = older[block];
    idleCount--;
  }

  /** Caches nothing from now on; blocks that are held stay with their holders, unnamed. */
  void clear() {
    for (int block = 0; block < capacity; block++) {
      var name = names[block];
      if (name != null) {
        forget(block, name);
        if (holders[block] == 0) {
          unlink(block);
          free[freeCount++] = block;
        }
      }
    }
    events.cleared(rank);
  }

  @Override
  public void close() {
    store.close();
  }
}
