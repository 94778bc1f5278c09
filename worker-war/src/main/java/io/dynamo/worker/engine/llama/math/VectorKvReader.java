package io.dynamo.worker.engine.llama.math;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * Reads keys and values in place, vector by vector. Lanes run over tokens for scores and over
 * dimensions for sums, never over the terms of one sum. Can be loaded only where {@link
 * VectorKernel} can.
 */
final class VectorKvReader implements KvReader {
  private static final VectorSpecies<Float> S = FloatVector.SPECIES_PREFERRED;
  private static final int LANES = S.length();

  private final MemorySegment memory;
  private final int blockTokens;
  private final int dims;
  private long[] pieces = {};

  VectorKvReader(MemorySegment memory, int blockTokens, int dims) {
    this.memory = memory;
    this.blockTokens = blockTokens;
    this.dims = dims;
  }

  @Override
  public void open(long[] of, int count) {
    pieces = of;
  }

  private static long bytes(int floats) {
    return (long) floats * Float.BYTES;
  }

  private static FloatVector load(MemorySegment from, long at) {
    return FloatVector.fromMemorySegment(S, from, at, ByteOrder.LITTLE_ENDIAN);
  }

  @Override
  public void scores(float[] query, int queryAt, int keysAt, int blocks, float[] out) {
    int lanes = blockTokens - blockTokens % LANES;
    int b = 0;
    for (; b + 4 <= blocks; b += 4) {
      for (int t = 0; t < lanes; t += LANES) {
        fourBlocks(query, queryAt, bytes(keysAt + t), b, out, b * blockTokens + t);
      }
    }
    for (; b < blocks; b++) {
      for (int t = 0; t < lanes; t += LANES) {
        oneBlock(query, queryAt, bytes(keysAt + t), b, out, b * blockTokens + t);
      }
    }
    for (b = 0; b < blocks; b++) {
      for (int t = lanes; t < blockTokens; t++) {
        out[b * blockTokens + t] = oneToken(query, queryAt, pieces[b] + bytes(keysAt + t));
      }
    }
  }

  private void fourBlocks(
      float[] query, int queryAt, long offset, int block, float[] out, int outAt) {
    var keys = memory;
    int row = blockTokens;
    int terms = dims;
    long aAt = pieces[block] + offset;
    long bAt = pieces[block + 1] + offset;
    long cAt = pieces[block + 2] + offset;
    long dAt = pieces[block + 3] + offset;
    var a = FloatVector.zero(S);
    var b = a;
    var c = a;
    var d = a;
    for (int i = 0; i < terms; i++) {
      var v = FloatVector.broadcast(S, query[queryAt + i]);
      long at = bytes(i * row);
      a = v.fma(load(keys, aAt + at), a);
      b = v.fma(load(keys, bAt + at), b);
      c = v.fma(load(keys, cAt + at), c);
      d = v.fma(load(keys, dAt + at), d);
    }
    a.intoArray(out, outAt);
    b.intoArray(out, outAt + row);
    c.intoArray(out, outAt + 2 * row);
    d.intoArray(out, outAt + 3 * row);
  }

  private void oneBlock(
      float[] query, int queryAt, long offset, int block, float[] out, int outAt) {
    var keys = memory;
    int row = blockTokens;
    int terms = dims;
    long from = pieces[block] + offset;
    var a = FloatVector.zero(S);
    for (int i = 0; i < terms; i++) {
      var v = FloatVector.broadcast(S, query[queryAt + i]);
      a = v.fma(load(keys, from + bytes(i * row)), a);
    }
    a.intoArray(out, outAt);
  }

  /** Computes the product for one token behind the last whole vector of its block. */
  private float oneToken(float[] query, int queryAt, long from) {
    float sum = 0f;
    for (int i = 0; i < dims; i++) {
      sum = Math.fma(query[queryAt + i], memory.get(NUMBER, from + bytes(i * blockTokens)), sum);
    }
    return sum;
  }

  @Override
  public void weigh(float[] weights, int tokens, int valuesAt, float[] out, int outAt) {
    int d = 0;
    for (; d + 4 * LANES <= dims; d += 4 * LANES) {
      fourVectors(weights, tokens, bytes(valuesAt + d), out, outAt + d);
    }
    for (; d < dims; d++) { // only where a head is no multiple of four vectors
      out[outAt + d] = oneDimension(weights, tokens, bytes(valuesAt + d));
    }
  }

  private void fourVectors(float[] weights, int tokens, long offset, float[] out, int outAt) {
    var values = memory;
    int row = dims;
    var a = FloatVector.zero(S);
    var b = a;
    var c = a;
    var d = a;
    int block = 0;
    for (int first = 0; first < tokens; first += blockTokens) {
      int count = Math.min(blockTokens, tokens - first);
      long from = pieces[block++] + offset;
      for (int t = 0; t < count; t++) {
        var v = FloatVector.broadcast(S, weights[first + t]);
        long at = from + bytes(t * row);
        a = v.fma(load(values, at), a);
        b = v.fma(load(values, at + bytes(LANES)), b);
        c = v.fma(load(values, at + bytes(2 * LANES)), c);
        d = v.fma(load(values, at + bytes(3 * LANES)), d);
      }
    }
    a.intoArray(out, outAt);
    b.intoArray(out, outAt + LANES);
    c.intoArray(out, outAt + 2 * LANES);
    d.intoArray(out, outAt + 3 * LANES);
  }

  private float oneDimension(float[] weights, int tokens, long offset) {
    float sum = 0f;
    for (int t = 0; t < tokens; t++) {
      long at = pieces[t / blockTokens] + offset + bytes(t % blockTokens * dims);
      sum = Math.fma(weights[t], memory.get(NUMBER, at), sum);
    }
    return sum;
  }
}
