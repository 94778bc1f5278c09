package io.dynamo.worker.engine.llama.math;

import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Attention's two loops over the KV blocks of a sequence, for one sequence at a time. Used by one
 * thread; the bits are those that {@link Kernel} promises.
 *
 * <p>A block has a piece for each layer, and within it for each head keys {@code
 * [dims][blockTokens]} and values {@code [blockTokens][dims]}.
 */
public interface KvReader {
  /** The layout of a number in a piece. */
  ValueLayout.OfFloat NUMBER = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /**
   * Switches to another sequence. Later writes to its pieces may be missed.
   *
   * @param pieces offsets at which the pieces begin, in bytes; kept until the next call
   * @param count number of pieces
   */
  void open(long[] pieces, int count);

  /**
   * Computes the products of one query with keys.
   *
   * @param keysAt offset of the keys within each piece, in numbers
   * @param blocks number of the sequence's blocks to read
   * @param out one product per token of the blocks, overwritten
   */
  void scores(float[] query, int queryAt, int keysAt, int blocks, float[] out);

  /**
   * Computes the weighted sum of values.
   *
   * @param weights one per token
   * @param valuesAt offset of the values within each piece, in numbers
   * @param out one sum per dimension from {@code outAt}, overwritten
   */
  void weigh(float[] weights, int tokens, int valuesAt, float[] out, int outAt);
}
