package io.dynamo.worker.engine.llama.math;

import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Attention's two loops over the KV blocks of one sequence after the other. Used by one thread; the
 * bits are those that {@link Kernel} promises.
 *
 * <p>A block has a piece for each layer, and within it for each head keys {@code
 * [dims][blockTokens]} and values {@code [blockTokens][dims]}.
 */
public interface KvReader {
  /** A number in a piece. */
  ValueLayout.OfFloat NUMBER = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /**
   * Turns to another sequence. What is written to its pieces later may be missed.
   *
   * @param pieces where they begin, in bytes; kept until the next call
   * @param count how many of them
   */
  void open(long[] pieces, int count);

  /**
   * The products of one query with keys.
   *
   * @param keysAt where the keys are within each piece, in numbers
   * @param blocks how many of the sequence's
   * @param out one product per token of the blocks, overwritten
   */
  void scores(float[] query, int queryAt, int keysAt, int blocks, float[] out);

  /**
   * The sum of values by their weights.
   *
   * @param weights one per token
   * @param valuesAt where the values are within each piece, in numbers
   * @param out one sum per dimension from {@code outAt}, overwritten
   */
  void weigh(float[] weights, int tokens, int valuesAt, float[] out, int outAt);
}
