package io.dynamo.transfer.layout;

/**
 * The places of a KV cache's bytes in one region, or in one for each layer. Immutable; every
 * product is checked when it is made.
 */
public final class KvLayout {
  /** The order of dimensions in a block, the outermost first. */
  public enum Order {
    /** Layer, keys and values, token, head. */
    NHD,
    /** Layer, keys and values, head, token. */
    HND,
    /**
     * Head, layer, keys and values, token: heads of a block are contiguous, so that workers of
     * other numbers of them take their part in one piece.
     */
    UNIVERSAL
  }

  /** How blocks and layers are spread over memory. */
  public enum Arrangement {
    /** All layers of a block lie together, in one region. */
    CONTIGUOUS,
    /** A region for each layer; in it, block after block with keys and values. */
    LAYERS_BLOCKS_FIRST,
    /** A region for each layer; in it, the keys of all blocks and then their values. */
    LAYERS_OUTER_FIRST
  }

  private final KvGeometry geometry;
  private final Order order;
  private final Arrangement arrangement;
  private final long blockStride;
  private final long layerStride; // 0 with a region for each layer
  private final long outerStride;
  private final long headStride;
  private final long tokenStride;
  private final long regionBytes;

  /**
   * @param alignment of blocks in a contiguous layout, a power of two: what direct I/O needs, or 1
   * @throws IllegalArgumentException for dimensions that do not go together
   */
  public KvLayout(KvGeometry geometry, Order order, Arrangement arrangement, long alignment) {
    if (Long.bitCount(alignment) != 1 || alignment < 0) {
      throw new IllegalArgumentException("an alignment of " + alignment + " is no power of two");
    }
    if (arrangement != Arrangement.CONTIGUOUS && (order == Order.UNIVERSAL || alignment != 1)) {
      throw new IllegalArgumentException(
          "layers that lie apart have neither the universal order nor aligned blocks");
    }
    this.geometry = geometry;
    this.order = order;
    this.arrangement = arrangement;
    long run = geometry.headBytes();
    this.tokenStride = order == Order.NHD ? run * geometry.heads() : run;
    long chunk = geometry.chunkBytes();
    try {
      switch (arrangement) {
        case CONTIGUOUS -> {
          boolean universal = order == Order.UNIVERSAL;
          outerStride = universal ? run * geometry.tokens() : chunk;
          layerStride = outerStride * geometry.outer();
          headStride = universal ? layerStride * geometry.layers() : headStrideOfChunk();
          blockStride = alignUp(geometry.blockBytes(), alignment);
          regionBytes =
              Math.addExact(
                  Math.multiplyExact(geometry.blocks() - 1L, blockStride), geometry.blockBytes());
        }
        case LAYERS_BLOCKS_FIRST -> {
          outerStride = chunk;
          layerStride = 0;
          headStride = headStrideOfChunk();
          blockStride = chunk * geometry.outer();
          regionBytes = blockStride * geometry.blocks();
        }
        case LAYERS_OUTER_FIRST -> {
          outerStride = chunk * geometry.blocks();
          layerStride = 0;
          headStride = headStrideOfChunk();
          blockStride = chunk;
          regionBytes = outerStride * geometry.outer();
        }
        default -> throw new IllegalStateException();
      }
    } catch (ArithmeticException tooLarge) {
      throw new IllegalArgumentException("a KV cache of more than 2^63 bytes", tooLarge);
    }
  }

  private long headStrideOfChunk() {
    return order == Order.NHD ? geometry.headBytes() : geometry.headBytes() * geometry.tokens();
  }

  private static long alignUp(long bytes, long alignment) {
    return Math.addExact(bytes, alignment - 1) & -alignment;
  }

  public KvGeometry geometry() {
    return geometry;
  }

  public Order order() {
    return order;
  }

  public Arrangement arrangement() {
    return arrangement;
  }

  /** Returns the number of regions: 1, or one for each layer. */
  public int regions() {
    return arrangement == Arrangement.CONTIGUOUS ? 1 : geometry.layers();
  }

  /** Returns the bytes that every region has. */
  public long regionBytes() {
    return regionBytes;
  }

  /** Returns which region a layer is in. */
  public int region(int layer) {
    requireBelow("layer", layer, geometry.layers());
    return regions() == 1 ? 0 : layer;
  }

  /** Returns the offset of one head of one token in its layer's region. */
  public long offset(int block, int layer, int outer, int head, int token) {
    requireBelow("outer dimension", outer, geometry.outer());
    requireBelow("head", head, geometry.heads());
    requireBelow("token", token, geometry.tokens());
    return blockOffset(block, layer)
        + outer * outerStride
        + head * headStride
        + token * tokenStride;
  }

  /** Returns the offset of a block's first byte of a layer in the region of that layer. */
  long blockOffset(int block, int layer) {
    requireBelow("block", block, geometry.blocks());
    requireBelow("layer", layer, geometry.layers());
    return block * blockStride + layer * layerStride;
  }

  private static void requireBelow(String what, int value, int bound) {
    if (value < 0 || value >= bound) {
      throw new IndexOutOfBoundsException("%s %d is not below %d".formatted(what, value, bound));
    }
  }

  /** Returns the strides by layer, outer dimension, head and token. */
  long[] strides() {
    return new long[] {layerStride, outerStride, headStride, tokenStride};
  }
}
