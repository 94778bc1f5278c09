package io.dynamo.worker.engine.llama;

import io.dynamo.token.SequenceHash;
import io.dynamo.worker.engine.BlockLedger;
import io.dynamo.worker.engine.KvEventSink;

/**
 * One rank's KV blocks with their bytes. Used by the rank's thread only.
 *
 * <p>Invariant: a cached block is full, its bytes are those of its name, and it is never written
 * again while it keeps that name.
 */
final class BlockPool implements AutoCloseable {
  static final int NONE = BlockLedger.NONE;

  private final int rank;
  private final KvStore store;
  private final KvEventSink events;
  private final BlockLedger ledger;
  private final int[] checksums;
  private long corrupt;

  BlockPool(int rank, int capacity, KvStore store, KvEventSink events) {
    this.rank = rank;
    this.store = store;
    this.events = events;
    this.ledger = new BlockLedger(rank, capacity, events);
    this.checksums = new int[capacity];
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
    return ledger.capacity();
  }

  /** Blocks that {@link #take} can still give. */
  int available() {
    return ledger.available();
  }

  int heldBlocks() {
    return ledger.heldBlocks();
  }

  int cachedBlocks() {
    return ledger.cachedBlocks();
  }

  long corruptBlocks() {
    return corrupt;
  }

  /**
   * The block cached under {@code name}, or {@link #NONE}; a block that has lost its bytes is
   * dropped and counts as absent.
   */
  int find(SequenceHash name) {
    int block = ledger.find(name);
    if (block == NONE || store.checksum(block) == checksums[block]) {
      return block;
    }
    corrupt++;
    ledger.drop(block);
    return NONE;
  }

  /** Holds a cached block. */
  void hold(int block) {
    ledger.hold(block);
  }

  /** A block to write, held, or {@link #NONE}; the longest idle one goes when none is free. */
  int take() {
    return ledger.take();
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
      ledger.hold(other);
      ledger.release(block);
      return other;
    }
    checksums[block] = store.checksum(block);
    ledger.name(block, name);
    return block;
  }

  /** Gives up one hold. */
  void release(int block) {
    ledger.release(block);
  }

  /** Caches nothing from now on; blocks that are held stay with their holders, unnamed. */
  void clear() {
    ledger.clear();
  }

  @Override
  public void close() {
    store.close();
  }
}
