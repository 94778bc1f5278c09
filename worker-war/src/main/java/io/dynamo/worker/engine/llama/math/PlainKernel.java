package io.dynamo.worker.engine.llama.math;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * A kernel of plain loops that the just-in-time compiler can vectorise: the inner loop runs over
 * results and has no sum of its own. A matrix is kept as {@code [inputs][outputs]}.
 */
public final class PlainKernel implements Kernel {
  @Override
  public String name() {
    return "plain";
  }

  @Override
  public Matrix pack(float[] weights, int outputs, int inputs) {
    var turned = new float[weights.length];
    for (int o = 0; o < outputs; o++) {
      for (int i = 0; i < inputs; i++) {
        turned[i * outputs + o] = weights[o * inputs + i];
      }
    }
    return new Matrix(turned, outputs, inputs);
  }

  @Override
  public void multiply(Matrix matrix, float[] x, int rows, float[] y) {
    int inputs = matrix.inputs;
    int outputs = matrix.outputs;
    Arrays.fill(y, 0, rows * outputs, 0f);
    int i = 0;
    for (; i + 4 <= inputs; i += 4) {
      for (int row = 0; row < rows; row++) {
        add4(matrix.values, i * outputs, outputs, x, row * inputs + i, y, row * outputs);
      }
    }
    for (; i < inputs; i++) {
      for (int row = 0; row < rows; row++) {
        add(matrix.values, i * outputs, outputs, x[row * inputs + i], y, row * outputs);
      }
    }
  }

  /** Adds the terms of four inputs, in their order. */
  private static void add4(float[] m, int at, int outputs, float[] x, int xAt, float[] y, int yAt) {
    float a = x[xAt];
    float b = x[xAt + 1];
    float c = x[xAt + 2];
    float d = x[xAt + 3];
    int atB = at + outputs;
    int atC = atB + outputs;
    int atD = atC + outputs;
    for (int o = 0; o < outputs; o++) {
      float sum = Math.fma(a, m[at + o], y[yAt + o]);
      sum = Math.fma(b, m[atB + o], sum);
      sum = Math.fma(c, m[atC + o], sum);
      y[yAt + o] = Math.fma(d, m[atD + o], sum);
    }
  }

  private static void add(float[] m, int at, int outputs, float x, float[] y, int yAt) {
    for (int o = 0; o < outputs; o++) {
      y[yAt + o] = Math.fma(x, m[at + o], y[yAt + o]);
    }
  }

  /** Adds {@code inputs} terms to each of {@code outputs} sums. */
  static void addAll(
      float[] m, int at, int outputs, float[] x, int xAt, int inputs, float[] y, int yAt) {
    int i = 0;
    for (; i + 4 <= inputs; i += 4) {
      add4(m, at + i * outputs, outputs, x, xAt + i, y, yAt);
    }
    for (; i < inputs; i++) {
      add(m, at + i * outputs, outputs, x[xAt + i], y, yAt);
    }
  }

  @Override
  public KvReader reader(MemorySegment memory, int pieceFloats, int blockTokens, int dims) {
    return new PlainKvReader(memory, pieceFloats, blockTokens, dims);
  }

  @Override
  public void exp(float[] values, int count, float scale, float shift) {
    for (int i = 0; i < count; i++) {
      values[i] = Exponential.of(values[i] * scale - shift);
    }
  }

  @Override
  public void gate(float[] gate, float[] up, int count) {
    for (int i = 0; i < count; i++) {
      gate[i] = gate[i] / (1f + Exponential.of(-gate[i])) * up[i];
    }
  }
}
