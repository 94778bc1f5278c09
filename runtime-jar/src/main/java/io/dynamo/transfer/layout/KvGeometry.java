package io.dynamo.transfer.layout;

/**
 * The dimensions of a KV cache, without their order.
 *
 * @param outer 2 for keys and values, 1 where a layer has one of both (MLA)
 * @param tokens of a block
 * @param heads that this process holds
 * @param headSize elements of a head
 * @param elementBytes bytes of an element
 */
public record KvGeometry(
    int blocks, int layers, int outer, int tokens, int heads, int headSize, int elementBytes) {
  /** The most tokens of a block. */
  public static final int MOST_TOKENS = 1024;

  public KvGeometry {
    requireWithin("blocks", blocks, Integer.MAX_VALUE);
    requireWithin("layers", layers, Integer.MAX_VALUE);
    requireWithin("outer dimensions (keys, values)", outer, 2);
    requireWithin("tokens of a block", tokens, MOST_TOKENS);
    requireWithin("heads", heads, Integer.MAX_VALUE);
    requireWithin("elements of a head", headSize, Integer.MAX_VALUE);
    requireWithin("bytes of an element", elementBytes, 8);
    if (Integer.bitCount(elementBytes) != 1) {
      throw new IllegalArgumentException(
          "an element of %d bytes has none of 1, 2, 4 or 8".formatted(elementBytes));
    }
    try {
      var block = multiply(layers, outer, tokens, heads, headSize, elementBytes);
      Math.multiplyExact(block, blocks);
    } catch (ArithmeticException tooLarge) {
      throw new IllegalArgumentException("a KV cache of more than 2^63 bytes", tooLarge);
    }
  }

  private static void requireWithin(String what, int value, int most) {
    if (value < 1 || value > most) {
      throw new IllegalArgumentException("%d %s are not from 1 to %d".formatted(value, what, most));
    }
  }

  static long multiply(long... factors) {
    long product = 1;
    for (long factor : factors) {
      product = Math.multiplyExact(product, factor);
    }
    return product;
  }

  /** Returns the bytes of one head of one token. */
  public long headBytes() {
    return (long) headSize * elementBytes;
  }

  /** Returns the bytes of a block's keys, or values, of one layer. */
  public long chunkBytes() {
    return multiply(tokens, heads, headBytes());
  }

  /** Returns the bytes of a block in all layers. */
  public long blockBytes() {
    return multiply(layers, outer, chunkBytes());
  }

  /** Whether blocks of both have the same dimensions; their number may differ. */
  public boolean hasBlocksLike(KvGeometry other) {
    return layers == other.layers
        && outer == other.outer
        && tokens == other.tokens
        && heads == other.heads
        && headSize == other.headSize
        && elementBytes == other.elementBytes;
  }
}
