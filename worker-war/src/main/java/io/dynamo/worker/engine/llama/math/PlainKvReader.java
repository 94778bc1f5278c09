package io.dynamo.worker.engine.llama.math;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Reads keys and values from a copy of a sequence's pieces in an array, made once for all its rows
 * and heads: the just-in-time compiler vectorises loops over arrays, but not over segments.
 */
final class PlainKvReader implements KvReader {
  private final MemorySegment memory;
  private final int pieceFloats;
  private final int blockTokens;
  private final int dims;
  private float[] copy = {}; // as long as the longest sequence so far

  PlainKvReader(MemorySegment memory, int pieceFloats, int blockTokens, int dims) {
    this.memory = memory;
    this.pieceFloats = pieceFloats;
    this.blockTokens = blockTokens;
    this.dims = dims;
  }

  @Override
  public void open(long[] pieces, int count) {
    int floats = Math.multiplyExact(count, pieceFloats);
    if (copy.length < floats) {
      copy = new float[Math.max(floats, (int) Math.min(2L * copy.length, 1 << 26))];
    }
    for (int i = 0; i < count; i++) {
      MemorySegment.copy(memory, NUMBER, pieces[i], copy, i * pieceFloats, pieceFloats);
    }
  }

  @Override
  public void scores(float[] query, int queryAt, int keysAt, int blocks, float[] out) {
    Arrays.fill(out, 0, blocks * blockTokens, 0f);
    for (int b = 0; b < blocks; b++) {
      int keys = b * pieceFloats + keysAt;
      PlainKernel.addAll(copy, keys, blockTokens, query, queryAt, dims, out, b * blockTokens);
    }
  }

  @Override
  public void weigh(float[] weights, int tokens, int valuesAt, float[] out, int outAt) {
    Arrays.fill(out, outAt, outAt + dims, 0f);
    int at = valuesAt;
    for (int first = 0; first < tokens; first += blockTokens) {
      int count = Math.min(blockTokens, tokens - first);
      PlainKernel.addAll(copy, at, dims, weights, first, count, out, outAt);
      at += pieceFloats;
    }
  }
}
