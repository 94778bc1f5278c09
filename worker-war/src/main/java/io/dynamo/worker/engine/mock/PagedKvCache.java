package io.dynamo.worker.engine.mock;

import io.dynamo.token.SequenceHash;
import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.worker.engine.KvEventSink;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One rank's KV blocks, by number. Used by the rank's thread only. A block is free, held by
 * generations ({@code holders > 0}), or idle: cached, held by nobody, and next to be evicted when
 * it is the one that was released first.
 *
 * <p>Invariant: {@code promised <= free + idle}, so a block that was promised is always there.
 */
final class PagedKvCache implements AutoCloseable {
  static final int NONE = -1;

  private final int rank;
  private final KvEventSink events;
  private final Region region;
  private final ByteBuffer scratch;
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
  private int promised;
  private long corrupt;

  PagedKvCache(int rank, int capacity, int blockBytes, Region region, KvEventSink events) {
    this.rank = rank;
    this.events = events;
    this.region = region;
    this.capacity = capacity;
    this.scratch = ByteBuffer.allocateDirect(blockBytes);
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

  /** Blocks that can still be promised. */
  int available() {
    return freeCount + idleCount - promised;
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

  /** The block cached under {@code name}, or {@link #NONE}. */
  int find(SequenceHash name) {
    return cached.getOrDefault(name, NONE);
  }

  boolean isHeld(int block) {
    return holders[block] > 0;
  }

  /** Whether a cached block still has the bytes it was filled with; if not, it is dropped. */
  boolean checkIntact(int block) {
    int length = scratch.capacity();
    if (region.crc32c((long) block * length, length) == checksums[block]) {
      return true;
    }
    corrupt++;
    drop(block);
    return false;
  }

  private void drop(int block) {
    var name = names[block];
    if (name == null) {
      return;
    }
    forget(block, name);
    if (holders[block] == 0) {
      unlink(block);
      free[freeCount++] = block;
    }
    events.removed(rank, List.of(name));
  }

  private void forget(int block, SequenceHash name) {
    cached.remove(name);
    names[block] = null;
  }

  /** Holds a cached block. */
  void hold(int block) {
    if (holders[block]++ == 0) {
      unlink(block);
    }
  }

  /** Sets blocks aside for {@link #take}. */
  void promise(int blocks) {
    promised += blocks;
  }

  void takeBack(int blocks) {
    promised -= blocks;
  }

  /** One of the promised blocks, held; the longest idle one goes when none is free. */
  int take() {
    promised--;
    if (freeCount == 0) {
      int victim = newer[capacity];
      var name = names[victim];
      unlink(victim);
      free[freeCount++] = victim;
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
   * Fills a held block and caches it, unless its like is cached already.
   *
   * @return the block to use from now on: {@code block}, or the one that was there, held
   */
  int cache(int block, SequenceHash name, int[] tokens, int from, int count) {
    int other = find(name);
    if (other != NONE && checkIntact(other)) {
      hold(other);
      release(block);
      return other;
    }
    BlockContent.fill(scratch, name, tokens, from, count);
    long offset = (long) block * scratch.capacity();
    region.write(offset, scratch);
    checksums[block] = region.crc32c(offset, scratch.capacity());
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
    region.close();
  }
}
