package io.dynamo.worker.engine.llama.math;

/**
 * The loops that take the time. Without state, safe for concurrent use.
 *
 * <p>Every implementation gives the same bits: a sum of products starts at zero and takes its terms
 * one after the other, each by one fused multiply-add, so neither the width of a vector nor the
 * number of rows changes a result. Lanes run over results, never over the terms of one sum.
 */
public interface Kernel {
  /** {@code vector} or {@code plain}. */
  String name();

  /**
   * Brings weights into this kernel's order.
   *
   * @param weights {@code [outputs][inputs]}, not kept
   */
  Matrix pack(float[] weights, int outputs, int inputs);

  /**
   * Multiplies rows with a matrix.
   *
   * @param matrix of this kernel's {@link #pack}
   * @param x {@code [rows][inputs]}
   * @param y {@code [rows][outputs]}, overwritten
   */
  void multiply(Matrix matrix, float[] x, int rows, float[] y);

  /**
   * The products of one query with the keys of whole blocks.
   *
   * @param keys {@code [dims][blockTokens]} per block
   * @param keysAt where the first block's keys are; the next block's are {@code stride} further
   * @param out one product per token, {@code blocks * blockTokens}, overwritten
   */
  void scores(
      float[] query,
      int queryAt,
      int dims,
      float[] keys,
      int keysAt,
      int stride,
      int blocks,
      int blockTokens,
      float[] out);

  /**
   * The sum of values by their weights.
   *
   * @param weights one per token
   * @param values {@code [blockTokens][dims]} per block
   * @param valuesAt where the first block's values are; the next block's are {@code stride} further
   * @param out {@code dims} sums from {@code outAt}, overwritten
   */
  void weigh(
      float[] weights,
      int tokens,
      float[] values,
      int valuesAt,
      int stride,
      int blockTokens,
      int dims,
      float[] out,
      int outAt);

  /** Replaces the first {@code count} values by {@code exp(value * scale - shift)}. */
  void exp(float[] values, int count, float scale, float shift);

  /** Replaces {@code gate} by {@code silu(gate) * up}, {@code count} values of each. */
  void gate(float[] gate, float[] up, int count);
}
