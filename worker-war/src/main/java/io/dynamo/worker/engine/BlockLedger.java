package io.dynamo.worker.engine;

import io.dynamo.token.SequenceHash;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Tracks which of a rank's KV blocks are free, held by sequences or idle, and the name under which
 * each is cached. Knows numbers and names, not bytes, and sends a removal event for each name that
 * ends. Used by the rank's thread only. An idle block is cached and held by no sequence; the one
 * that was released first is evicted first. Several blocks may be cached under one name; the name
 * ends with the last of them.
 */
public final class BlockLedger {
  /** The value that stands for no block. */
  public static final int NONE = -1;

  private final int rank;
  private final KvEventSink events;
  private final int capacity;
  private final int[] holders;
  private final @Nullable SequenceHash[] names; // null while not cached
  private final int[] older; // a ring of idle blocks; entry `capacity` is its head
  private final int[] newer;
  private final int[] free;
  private final int[] nextCopy; // next block of the same name, in order of naming
  private final Map<SequenceHash, Integer> cached = new HashMap<>();
  private int freeCount;
  private int idleCount;

  /**
   * @param events receives the removals; the rank itself sends the events of stored blocks
   */
  public BlockLedger(int rank, int capacity, KvEventSink events) {
    this.rank = rank;
    this.capacity = capacity;
    this.events = events;
    this.holders = new int[capacity];
    this.names = new SequenceHash[capacity];
    this.older = new int[capacity + 1];
    this.newer = new int[capacity + 1];
    this.free = new int[capacity];
    this.nextCopy = new int[capacity];
    Arrays.fill(nextCopy, NONE);
    older[capacity] = capacity;
    newer[capacity] = capacity;
    for (int block = capacity - 1; block >= 0; block--) {
      free[freeCount++] = block;
    }
  }

  public int capacity() {
    return capacity;
  }

  /** Returns the number of blocks that {@link #take} can still give. */
  public int available() {
    return freeCount + idleCount;
  }

  public int heldBlocks() {
    return capacity - freeCount - idleCount;
  }

  /** Returns the number of blocks that are cached and held by no sequence. */
  public int idleBlocks() {
    return idleCount;
  }

  /** Returns the number of names under which blocks are cached. */
  public int cachedBlocks() {
    return cached.size();
  }

  /** Returns the block that was cached first under {@code name}, or {@link #NONE}. */
  public int find(SequenceHash name) {
    return cached.getOrDefault(name, NONE);
  }

  public boolean isHeld(int block) {
    return holders[block] > 0;
  }

  /** Adds a hold to a cached block. */
  public void hold(int block) {
    if (holders[block]++ == 0) {
      unlink(block);
    }
  }

  /**
   * Returns a block to write, held, or {@link #NONE}; when none is free, the block that has been
   * idle longest is evicted.
   */
  public int take() {
    if (freeCount == 0) {
      if (idleCount == 0) {
        return NONE;
      }
      drop(newer[capacity]);
    }
    int block = free[--freeCount];
    holders[block] = 1;
    return block;
  }

  /** Caches a held block that has no name yet under {@code name}. */
  public void name(int block, SequenceHash name) {
    names[block] = name;
    var first = cached.putIfAbsent(name, block);
    if (first != null) {
      int last = first;
      while (nextCopy[last] != NONE) {
        last = nextCopy[last];
      }
      nextCopy[last] = block;
    }
  }

  /** Removes the block's name, if it has one; sequences that hold the block keep it. */
  public void drop(int block) {
    var name = names[block];
    if (name != null) {
      forget(block, name);
      if (!cached.containsKey(name)) {
        events.removed(rank, List.of(name));
      }
    }
  }

  private void forget(int block, SequenceHash name) {
    int copy = cached.getOrDefault(name, block);
    if (copy == block) {
      if (nextCopy[block] == NONE) {
        cached.remove(name);
      } else {
        cached.put(name, nextCopy[block]);
      }
    } else {
      while (nextCopy[copy] != block) {
        copy = nextCopy[copy];
      }
      nextCopy[copy] = nextCopy[block];
    }
    nextCopy[block] = NONE;
    names[block] = null;
    if (holders[block] == 0) {
      unlink(block);
      free[freeCount++] = block;
    }
  }

  /** Removes one hold from a block. */
  public void release(int block) {
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

  private void unlink(int block) {
    newer[older[block]] = newer[block];
    older[newer[block]] = older[block];
    idleCount--;
  }

  /** Removes all names from the cache; held blocks stay with their sequences, unnamed. */
  public void clear() {
    for (int block = 0; block < capacity; block++) {
      var name = names[block];
      if (name != null) {
        forget(block, name);
      }
    }
    events.cleared(rank);
  }
}
