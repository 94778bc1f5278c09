package io.dynamo.worker.engine.llama;

import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.worker.engine.llama.weights.LlamaShape;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The bytes of one rank's KV blocks in a region of host memory. Used by the rank's thread only.
 *
 * <p>A block holds, for each layer, a piece {@code [kvHeads] { keys [headDim][blockTokens], values
 * [blockTokens][headDim] }} of little-endian floats: keys lie so that the scores of a block's
 * tokens are neighbours, values so that the dimensions of one token are.
 */
final class KvStore implements AutoCloseable {
  private final Region region;
  private final int pieceFloats;
  private final long pieceBytes;
  private final long blockBytes;
  private final ByteBuffer scratch;

  /** Bytes of one block. */
  static long blockBytes(LlamaShape shape, int blockTokens) {
    return (long) shape.layers() * pieceFloats(shape, blockTokens) * Float.BYTES;
  }

  static int pieceFloats(LlamaShape shape, int blockTokens) {
    return Math.multiplyExact(2 * shape.kvWidth(), blockTokens);
  }

  KvStore(Region region, LlamaShape shape, int blockTokens) {
    this.region = region;
    this.pieceFloats = pieceFloats(shape, blockTokens);
    this.pieceBytes = (long) pieceFloats * Float.BYTES;
    this.blockBytes = blockBytes(shape, blockTokens);
    this.scratch =
        ByteBuffer.allocateDirect(Math.toIntExact(pieceBytes)).order(ByteOrder.LITTLE_ENDIAN);
  }

  int pieceFloats() {
    return pieceFloats;
  }

  int blockBytes() {
    return Math.toIntExact(blockBytes);
  }

  void read(int block, int layer, float[] into, int at) {
    scratch.clear();
    region.read(block * blockBytes + layer * pieceBytes, scratch);
    scratch.flip();
    scratch.asFloatBuffer().get(into, at, pieceFloats);
  }

  void write(int block, int layer, float[] from, int at) {
    scratch.clear();
    scratch.asFloatBuffer().put(from, at, pieceFloats);
    region.write(block * blockBytes + layer * pieceBytes, scratch);
  }

  int checksum(int block) {
    return region.crc32c(block * blockBytes, blockBytes);
  }

  /** All bytes of a block. */
  byte[] export(int block) {
    var bytes = new byte[blockBytes()];
    region.read(block * blockBytes, ByteBuffer.wrap(bytes));
    return bytes;
  }

  void load(int block, byte[] bytes) {
    region.write(block * blockBytes, ByteBuffer.wrap(bytes));
  }

  @Override
  public void close() {
    region.close();
  }
}
