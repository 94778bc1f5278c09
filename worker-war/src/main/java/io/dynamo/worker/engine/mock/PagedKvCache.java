package io.dynamo.worker.engine.mock;

import io.dynamo.token.SequenceHash;
import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.worker.engine.BlockLedger;
import io.dynamo.worker.engine.KvEventSink;
import java.nio.ByteBuffer;

/** One rank's KV blocks with made-up bytes. Used by the rank's thread only. */
final class PagedKvCache implements AutoCloseable {
  static final int NONE = BlockLedger.NONE;

  private final BlockLedger ledger;
  private final Region region;
  private final ByteBuffer scratch;
  private final int[] checksums;
  private long corrupt;

  PagedKvCache(int rank, int capacity, int blockBytes, Region region, KvEventSink events) {
    this.ledger = new BlockLedger(rank, capacity, events);
    this.region = region;
    this.scratch = ByteBuffer.allocateDirect(blockBytes);
    this.checksums = new int[capacity];
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

  int idleBlocks() {
    return ledger.idleBlocks();
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

  /** A block to write, held, or {@link #NONE}; the longest idle one goes when none is free. */
  int take() {
    return ledger.take();
  }

  /**
   * Fills a held block and caches it.
   *
   * @return whether it is the first of its name
   */
  boolean cache(int block, SequenceHash name, int[] tokens, int from, int count) {
    boolean first = find(name) == NONE;
    BlockContent.fill(scratch, name, tokens, from, count);
    long offset = (long) block * scratch.capacity();
    region.write(offset, scratch);
    checksums[block] = region.crc32c(offset, scratch.capacity());
    ledger.name(block, name);
    return first;
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
