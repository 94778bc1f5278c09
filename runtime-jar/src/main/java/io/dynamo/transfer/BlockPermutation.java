package io.dynamo.transfer;

import java.util.Arrays;

/**
 * Blocks to move into another order of their dimensions: runs of bytes that are contiguous on both
 * sides, counted by four indices, and the offsets of each block. Immutable; offsets are checked
 * when it is used.
 */
public final class BlockPermutation {
  /** The number of dimensions; those that blocks do not have are of size 1. */
  public static final int DIMENSIONS = 4;

  private final long[] shape;
  private final long[] pairs;

  /**
   * @param runBytes bytes of a run
   * @param sizes of four dimensions
   * @param sourceStrides bytes from one index to the next
   * @param pairs source offset and target offset of each block
   */
  public BlockPermutation(
      long runBytes, long[] sizes, long[] sourceStrides, long[] targetStrides, long[] pairs) {
    if (sizes.length != DIMENSIONS
        || sourceStrides.length != DIMENSIONS
        || targetStrides.length != DIMENSIONS
        || pairs.length % 2 != 0) {
      throw new IllegalArgumentException(
          "a permutation has four sizes, four strides of each side, and pairs of offsets");
    }
    this.shape = new long[1 + 3 * DIMENSIONS];
    shape[0] = runBytes;
    System.arraycopy(sizes, 0, shape, 1, DIMENSIONS);
    System.arraycopy(sourceStrides, 0, shape, 1 + DIMENSIONS, DIMENSIONS);
    System.arraycopy(targetStrides, 0, shape, 1 + 2 * DIMENSIONS, DIMENSIONS);
    this.pairs = pairs.clone();
  }

  /** Returns the number of blocks. */
  public int count() {
    return pairs.length / 2;
  }

  /** Returns the bytes of a run, the sizes, the strides of the source and those of the target. */
  public long[] shape() {
    return shape.clone();
  }

  /** Returns the source offset and the target offset of each block. */
  public long[] pairs() {
    return pairs.clone();
  }

  /**
   * Returns the same as ranges, for ways that know no permutations.
   *
   * @throws ArithmeticException when there are more than an array holds
   */
  public CopyBatch toRanges() {
    long runs = count();
    for (int i = 1; i <= DIMENSIONS; i++) {
      runs = Math.multiplyExact(runs, shape[i]);
    }
    Math.toIntExact(Math.multiplyExact(runs, 3));
    var batch = new CopyBatch();
    long[] index = new long[DIMENSIONS];
    for (int block = 0; block < count(); block++) {
      Arrays.fill(index, 0);
      do {
        batch.add(
            offset(pairs[2 * block], 1 + DIMENSIONS, index),
            offset(pairs[2 * block + 1], 1 + 2 * DIMENSIONS, index),
            shape[0]);
      } while (advance(index));
    }
    return batch;
  }

  private long offset(long begin, int strides, long... index) {
    long at = begin;
    for (int i = 0; i < DIMENSIONS; i++) {
      at = Math.addExact(at, Math.multiplyExact(index[i], shape[strides + i]));
    }
    return at;
  }

  /** Moves on to the next run. Returns false past the last. */
  private boolean advance(long... index) {
    for (int i = DIMENSIONS - 1; i >= 0; i--) {
      if (++index[i] < shape[1 + i]) {
        return true;
      }
      index[i] = 0;
    }
    return false;
  }
}
