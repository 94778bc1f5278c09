package io.dynamo.worker.engine.llama.math;

import java.lang.foreign.MemorySegment;

/**
 * The numeric loops of a forward pass, where most of its time is spent. Stateless, safe for
 * concurrent use.
 *
 * <p>Every implementation gives the same bits: a sum of products starts at zero and takes its terms
 * one after the other, each by one fused multiply-add, so neither the width of a vector nor the
 * number of rows changes a result. Lanes run over results, never over the terms of one sum.
 */
public interface Kernel {
  /** Returns {@code vector} or {@code plain}. */
  String name();

  /**
   * Reorders weights for this kernel.
   *
   * @param weights {@code [outputs][inputs]}, not kept
   */
  Matrix pack(float[] weights, int outputs, int inputs);

  /**
   * Multiplies rows with a matrix.
   *
   * @param matrix from this kernel's {@link #pack}
   * @param x {@code [rows][inputs]}
   * @param y {@code [rows][outputs]}, overwritten
   */
  void multiply(Matrix matrix, float[] x, int rows, float[] y);

  /**
   * Returns a reader of the keys and values in {@code memory}.
   *
   * @param pieceFloats numbers of one layer of a block
   * @param blockTokens tokens of a block
   * @param dims numbers of one token's key, and of its value, in one head
   */
  KvReader reader(MemorySegment memory, int pieceFloats, int blockTokens, int dims);

  /** Replaces the first {@code count} values by {@code exp(value * scale - shift)}. */
  void exp(float[] values, int count, float scale, float shift);

  /** Replaces {@code gate} by {@code silu(gate) * up}, {@code count} values of each. */
  void gate(float[] gate, float[] up, int count);
}
