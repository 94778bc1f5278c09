package io.dynamo.worker.engine.mock;

import io.dynamo.token.SequenceHash;
import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.worker.engine.BlockLedger;
import io.dynamo.worker.engine.KvEventSink;
import java.nio.ByteBuffer;

/**
 * One rank's KV blocks with made-up bytes. Used by the rank's thread only.
 *
 * <p>Invariant: {@code promised <= free + idle}, so a block that was promised is always there.
 */
final class PagedKvCache implements AutoCloseable {
  static final int NONE = BlockLedger.NONE;

  private final BlockLedger ledger;
  private final Region region;
  private final ByteBuffer scratch;
  private final int[] checksums;
  private int promised;
  private long corrupt;

  PagedKvCache(int rank, int capacity, int blockBytes, Region region, KvEventSink events) {
    this.ledger = new BlockLedger(rank, capacity, events);
    this.region = region;
    this.scratch = ByteBuffer.allocateDirect(blockBytes);
    this.checksums = new int[capacity];
  }

  /** Blocks that can still be promised. */
  int available() {
    return ledger.available() - promised;
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

  /** The block cached under {@code name}, or {@link #NONE}. */
  int find(SequenceHash name) {
    return ledger.find(name);
  }

  boolean isHeld(int block) {
    return ledger.isHeld(block);
  }

  /** Whether a cached block still has the bytes it was filled with; if not, it is dropped. */
  boolean checkIntact(int block) {
    int length = scratch.capacity();
    if (region.crc32c((long) block * length, length) == checksums[block]) {
      return true;
    }
    corrupt++;
    ledger.drop(block);
    return false;
  }

  /** Holds a cached block. */
  void hold(int block) {
    ledger.hold(block);
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
    return ledger.take();
  }

  /**
   * Fills a held block and caches it, unless its like is cached already.
   *
   * @return the block to use from now on: {@code block}, or the one that was there, held
   */
  int cache(int block, SequenceHash name, int[] tokens, int from, int count) {
    int other = find(name);
    if (other != NONE && checkIntact(other)) {
      ledger.hold(other);
      ledger.release(block);
      return other;
    }
    BlockContent.fill(scratch, name, tokens, from, count);
    long offset = (long) block * scratch.capacity();
    region.write(offset, scratch);
    checksums[block] = region.crc32c(offset, scratch.capacity());
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
    region.close();
  }
}
