package io.dynamo.worker.engine.llama;

import io.dynamo.token.SequenceHash;
import io.dynamo.worker.engine.BlockLedger;
import io.dynamo.worker.engine.KvEventSink;

/**
 * One rank's KV blocks with their bytes. Used by the rank's thread only.
 *
 * <p>Invariant: a cached block is full, its bytes match its name, and it is never written again
 * while it keeps that name.
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

  /** Returns the number of blocks that {@link #take} can still give. */
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
   * Returns the block cached under {@code name}, or {@link #NONE}; a block whose checksum no longer
   * matches is dropped and counts as absent.
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

  /** Returns the checksum of a cached block. */
  int checksum(int block) {
    return checksums[block];
  }

  /** Adds a hold to a cached block. */
  void hold(int block) {
    ledger.hold(block);
  }

  /**
   * Returns a block to write, held, or {@link #NONE}; when none is free, the block that has been
   * idle longest is evicted.
   */
  int take() {
    return ledger.take();
  }

  /**
   * Caches a held block that is now full, unless a block of that name is cached already.
   *
   * @return the block to use from now on: {@code block}, or the one that was cached already, held;
   *     both have the same bytes
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

  /** Removes one hold from a block. */
  void release(int block) {
    ledger.release(block);
  }

  /** Removes all names from the cache; held blocks stay with their sequences, unnamed. */
  void clear() {
    ledger.clear();
  }

  @Override
  public void close() {
    store.close();
  }
}
