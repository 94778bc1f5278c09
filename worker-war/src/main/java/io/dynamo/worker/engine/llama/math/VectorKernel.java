package io.dynamo.worker.engine.llama.math;

import static io.dynamo.worker.engine.llama.math.Exponential.C1;
import static io.dynamo.worker.engine.llama.math.Exponential.C2;
import static io.dynamo.worker.engine.llama.math.Exponential.C3;
import static io.dynamo.worker.engine.llama.math.Exponential.C4;
import static io.dynamo.worker.engine.llama.math.Exponential.C5;
import static io.dynamo.worker.engine.llama.math.Exponential.C6;
import static io.dynamo.worker.engine.llama.math.Exponential.EXPONENT_BIAS;
import static io.dynamo.worker.engine.llama.math.Exponential.EXPONENT_SHIFT;
import static io.dynamo.worker.engine.llama.math.Exponential.HIGHEST;
import static io.dynamo.worker.engine.llama.math.Exponential.LN2_HIGH;
import static io.dynamo.worker.engine.llama.math.Exponential.LN2_LOW;
import static io.dynamo.worker.engine.llama.math.Exponential.LOG2_E;
import static io.dynamo.worker.engine.llama.math.Exponential.LOWEST;
import static io.dynamo.worker.engine.llama.math.Exponential.ROUNDER;

import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * A kernel on the Vector API, which the JVM has only with {@code --add-modules
 * jdk.incubator.vector}: without it this class cannot be loaded, see {@link Kernels}. A matrix is
 * kept in tiles, {@code [outputs / TILE][inputs][TILE]}, the last one padded with zeros; a tile's
 * sums stay in registers while its weights are read once, in order.
 */
final class VectorKernel implements Kernel {
  private static final VectorSpecies<Float> S = FloatVector.SPECIES_PREFERRED;
  private static final int LANES = S.length();
  private static final int TILE = 2 * LANES;
  private static final int GROUP = 4; // tiles that a single row is multiplied with at once

  @Override
  public String name() {
    return "vector";
  }

  @Override
  public Matrix pack(float[] weights, int outputs, int inputs) {
    int tiles = (outputs + TILE - 1) / TILE;
    var packed = new float[Math.multiplyExact(tiles * TILE, inputs)];
    for (int o = 0; o < outputs; o++) {
      int at = o / TILE * TILE * inputs + o % TILE;
      for (int i = 0; i < inputs; i++) {
        packed[at + i * TILE] = weights[o * inputs + i];
      }
    }
    return new Matrix(packed, outputs, inputs);
  }

  @Override
  public void multiply(Matrix matrix, float[] x, int rows, float[] y) {
    int whole = matrix.outputs / TILE; // tiles without padding
    int tile = 0;
    for (; tile + GROUP <= whole; tile += GROUP) {
      int row = 0;
      for (; row + 4 <= rows; row += 4) {
        for (int t = tile; t < tile + GROUP; t++) {
          fourRows(matrix, t, x, row, y);
        }
      }
      for (; row < rows; row++) {
        fourTiles(matrix, tile, x, row, y);
      }
    }
    for (; tile < whole; tile++) {
      int row = 0;
      for (; row + 4 <= rows; row += 4) {
        fourRows(matrix, tile, x, row, y);
      }
      for (; row < rows; row++) {
        oneTile(matrix, tile, x, row, y);
      }
    }
    if (tile * TILE < matrix.outputs) {
      for (int row = 0; row < rows; row++) {
        filledTile(matrix, tile, x, row, y);
      }
    }
  }

  private static void fourRows(Matrix matrix, int tile, float[] x, int row, float[] y) {
    int inputs = matrix.inputs;
    var m = matrix.values;
    int at = tile * TILE * inputs;
    int x0 = row * inputs;
    int x1 = x0 + inputs;
    int x2 = x1 + inputs;
    int x3 = x2 + inputs;
    var a0 = FloatVector.zero(S);
    var b0 = a0;
    var a1 = a0;
    var b1 = a0;
    var a2 = a0;
    var b2 = a0;
    var a3 = a0;
    var b3 = a0;
    for (int i = 0; i < inputs; i++) {
      var wa = FloatVector.fromArray(S, m, at);
      var wb = FloatVector.fromArray(S, m, at + LANES);
      var v = FloatVector.broadcast(S, x[x0 + i]);
      a0 = v.fma(wa, a0);
      b0 = v.fma(wb, b0);
      v = FloatVector.broadcast(S, x[x1 + i]);
      a1 = v.fma(wa, a1);
      b1 = v.fma(wb, b1);
      v = FloatVector.broadcast(S, x[x2 + i]);
      a2 = v.fma(wa, a2);
      b2 = v.fma(wb, b2);
      v = FloatVector.broadcast(S, x[x3 + i]);
      a3 = v.fma(wa, a3);
      b3 = v.fma(wb, b3);
      at += TILE;
    }
    int out = row * matrix.outputs + tile * TILE;
    a0.intoArray(y, out);
    b0.intoArray(y, out + LANES);
    out += matrix.outputs;
    a1.intoArray(y, out);
    b1.intoArray(y, out + LANES);
    out += matrix.outputs;
    a2.intoArray(y, out);
    b2.intoArray(y, out + LANES);
    out += matrix.outputs;
    a3.intoArray(y, out);
    b3.intoArray(y, out + LANES);
  }

  private static void fourTiles(Matrix matrix, int tile, float[] x, int row, float[] y) {
    int inputs = matrix.inputs;
    var m = matrix.values;
    int at = tile * TILE * inputs;
    int step = TILE * inputs;
    int xAt = row * inputs;
    var a0 = FloatVector.zero(S);
    var b0 = a0;
    var a1 = a0;
    var b1 = a0;
    var a2 = a0;
    var b2 = a0;
    var a3 = a0;
    var b3 = a0;
    for (int i = 0; i < inputs; i++) {
      var v = FloatVector.broadcast(S, x[xAt + i]);
      a0 = v.fma(FloatVector.fromArray(S, m, at), a0);
      b0 = v.fma(FloatVector.fromArray(S, m, at + LANES), b0);
      a1 = v.fma(FloatVector.fromArray(S, m, at + step), a1);
      b1 = v.fma(FloatVector.fromArray(S, m, at + step + LANES), b1);
      a2 = v.fma(FloatVector.fromArray(S, m, at + 2 * step), a2);
      b2 = v.fma(FloatVector.fromArray(S, m, at + 2 * step + LANES), b2);
      a3 = v.fma(FloatVector.fromArray(S, m, at + 3 * step), a3);
      b3 = v.fma(FloatVector.fromArray(S, m, at + 3 * step + LANES), b3);
      at += TILE;
    }
    int out = row * matrix.outputs + tile * TILE;
    a0.intoArray(y, out);
    b0.intoArray(y, out + LANES);
    a1.intoArray(y, out + TILE);
    b1.intoArray(y, out + TILE + LANES);
    a2.intoArray(y, out + 2 * TILE);
    b2.intoArray(y, out + 2 * TILE + LANES);
    a3.intoArray(y, out + 3 * TILE);
    b3.intoArray(y, out + 3 * TILE + LANES);
  }

  private static void oneTile(Matrix matrix, int tile, float[] x, int row, float[] y) {
    tileInto(matrix, tile, x, row, y, row * matrix.outputs + tile * TILE);
  }

  private static void filledTile(Matrix matrix, int tile, float[] x, int row, float[] y) {
    var sums = new float[TILE];
    tileInto(matrix, tile, x, row, sums, 0);
    int first = tile * TILE;
    System.arraycopy(sums, 0, y, row * matrix.outputs + first, matrix.outputs - first);
  }

  private static void tileInto(
      Matrix matrix, int tile, float[] x, int row, float[] into, int intoAt) {
    int inputs = matrix.inputs;
    var m = matrix.values;
    int at = tile * TILE * inputs;
    int xAt = row * inputs;
    var a = FloatVector.zero(S);
    var b = a;
    for (int i = 0; i < inputs; i++) {
      var v = FloatVector.broadcast(S, x[xAt + i]);
      a = v.fma(FloatVector.fromArray(S, m, at), a);
      b = v.fma(FloatVector.fromArray(S, m, at + LANES), b);
      at += TILE;
    }
    a.intoArray(into, intoAt);
    b.intoArray(into, intoAt + LANES);
  }

  @Override
  public KvReader reader(MemorySegment memory, int pieceFloats, int blockTokens, int dims) {
    return new VectorKvReader(memory, blockTokens, dims);
  }

  @Override
  public void exp(float[] values, int count, float scale, float shift) {
    int i = 0;
    for (; i + LANES <= count; i += LANES) {
      exp(FloatVector.fromArray(S, values, i).mul(scale).sub(shift)).intoArray(values, i);
    }
    for (; i < count; i++) {
      values[i] = Exponential.of(values[i] * scale - shift);
    }
  }

  private static FloatVector exp(FloatVector value) {
    var x = value.max(LOWEST).min(HIGHEST);
    var rounded = x.fma(FloatVector.broadcast(S, LOG2_E), FloatVector.broadcast(S, ROUNDER));
    var whole = rounded.sub(ROUNDER);
    var rest = whole.fma(FloatVector.broadcast(S, -LN2_HIGH), x);
    rest = whole.fma(FloatVector.broadcast(S, -LN2_LOW), rest);
    var p = FloatVector.broadcast(S, C6).fma(rest, FloatVector.broadcast(S, C5));
    p = p.fma(rest, FloatVector.broadcast(S, C4));
    p = p.fma(rest, FloatVector.broadcast(S, C3));
    p = p.fma(rest, FloatVector.broadcast(S, C2));
    p = p.fma(rest, FloatVector.broadcast(S, C1));
    var power = p.fma(rest.mul(rest), rest).add(1f);
    var bits =
        rounded
            .reinterpretAsInts()
            .lanewise(VectorOperators.LSHL, EXPONENT_SHIFT)
            .add(EXPONENT_BIAS);
    return power.mul(bits.reinterpretAsFloats());
  }

  @Override
  public void gate(float[] gate, float[] up, int count) {
    int i = 0;
    for (; i + LANES <= count; i += LANES) {
      var g = FloatVector.fromArray(S, gate, i);
      g.div(exp(g.neg()).add(1f)).mul(FloatVector.fromArray(S, up, i)).intoArray(gate, i);
    }
    for (; i < count; i++) {
      gate[i] = gate[i] / (1f + Exponential.of(-gate[i])) * up[i];
    }
  }
}
