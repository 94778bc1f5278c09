package io.dynamo.transfer;

import java.util.Arrays;

/**
 * Ranges to copy in one call: source offset, target offset and length of each, in bytes. Not safe
 * for concurrent use.
 */
public final class CopyBatch {
  private long[] triples = new long[48];
  private int size;

  public CopyBatch add(long sourceOffset, long targetOffset, long length) {
    if (triples.length < size + 3) {
      triples = Arrays.copyOf(triples, triples.length * 2);
    }
    triples[size++] = sourceOffset;
    triples[size++] = targetOffset;
    triples[size++] = length;
    return this;
  }

  /** How many ranges. */
  public int count() {
    return size / 3;
  }

  public long sourceOffset(int index) {
    return triples[3 * index];
  }

  public long targetOffset(int index) {
    return triples[3 * index + 1];
  }

  public long length(int index) {
    return triples[3 * index + 2];
  }

  /** The ranges as one array of triples, cut to size. */
  public long[] toArray() {
    return Arrays.copyOf(triples, size);
  }
}
