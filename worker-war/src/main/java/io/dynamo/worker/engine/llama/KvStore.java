package io.dynamo.worker.engine.llama;

import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.worker.engine.llama.weights.LlamaShape;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The bytes of one rank's KV blocks in a region of host memory. Used by the rank's thread only.
 *
 * <p>A block holds, for each layer, a piece {@code [kvHeads] { keys [headDim][blockTokens], values
 * [blockTokens][headDim] }} of little-endian floats: keys are laid out so that the scores of a
 * block's tokens are adjacent, values so that the dimensions of one token are.
 */
final class KvStore implements AutoCloseable {
  private final Region region;
  private final int pieceFloats;
  private final long pieceBytes;
  private final long blockBytes;
  private final Arena arena = Arena.ofShared(); // of the view; ends with the store
  private final MemorySegment memory;

  /** Returns the bytes of one block. */
  static long blockBytes(LlamaShape shape, int blockTokens) {
    return (long) shape.layers() * pieceFloats(shape, blockTokens) * Float.BYTES;
  }

  static int pieceFloats(LlamaShape shape, int blockTokens) {
    return Math.multiplyExact(2 * shape.kvWidth(), blockTokens);
  }

  /** Takes ownership of {@code region} once constructed. */
  KvStore(Region region, LlamaShape shape, int blockTokens) {
    this.region = region;
    this.pieceFloats = pieceFloats(shape, blockTokens);
    this.pieceBytes = (long) pieceFloats * Float.BYTES;
    this.blockBytes = blockBytes(shape, blockTokens);
    this.memory = view(region, arena);
  }

  private static MemorySegment view(Region region, Arena until) {
    try {
      return region.view(until);
    } catch (RuntimeException failure) {
      until.close();
      throw failure;
    }
  }

  int pieceFloats() {
    return pieceFloats;
  }

  /** Returns the view of all bytes, without a copy. */
  MemorySegment memory() {
    return memory;
  }

  /** Returns the offset of a layer's piece of a block, in bytes. */
  long at(int block, int layer) {
    return block * blockBytes + layer * pieceBytes;
  }

  int checksum(int block) {
    return region.crc32c(block * blockBytes, blockBytes);
  }

  /** Returns the region of all bytes, for copies. */
  Region region() {
    return region;
  }

  @Override
  public void close() {
    if (arena.scope().isAlive()) {
      arena.close();
    }
    region.close();
  }
}
