package io.dynamo.worker.engine.llama.math;

/**
 * Weights in the order in which one {@link Kernel} reads them. Immutable once packed; only the
 * kernel that packed it knows the order.
 */
public final class Matrix {
  final float[] values;
  final int outputs;
  final int inputs;

  Matrix(float[] values, int outputs, int inputs) {
    this.values = values;
    this.outputs = outputs;
    this.inputs = inputs;
  }
}
