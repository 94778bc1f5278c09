package io.dynamo.transfer;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;

/**
 * Ranges to copy in one call: source offset, target offset and length of each, in bytes. Not safe
 * for concurrent use.
 */
public final class CopyBatch {
  private long[] triples = new long[48];
  private int size;

  /** Adds a range; it is checked when the batch is used. */
  public CopyBatch add(long sourceOffset, long targetOffset, long length) {
    if (triples.length < size + 3) {
      triples = Arrays.copyOf(triples, triples.length * 2 + 3);
    }
    triples[size++] = sourceOffset;
    triples[size++] = targetOffset;
    triples[size++] = length;
    return this;
  }

  /** Returns the number of ranges. */
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

  /** Returns the ranges from {@code begin} to before {@code end}. */
  public CopyBatch part(int begin, int end) {
    var part = new CopyBatch();
    part.triples = Arrays.copyOfRange(triples, 3 * begin, 3 * end);
    part.size = part.triples.length;
    return part;
  }

  /** Returns the ranges as one array of triples, without spare room. */
  public long[] toArray() {
    return Arrays.copyOf(triples, size);
  }

  /**
   * Checks every range against the sizes of the regions.
   *
   * @throws IndexOutOfBoundsException naming the first range that leaves its region
   */
  public void requireWithin(long sourceBytes, long targetBytes) {
    for (var i = 0; i < count(); i++) {
      requireWithin("source", i, sourceOffset(i), length(i), sourceBytes);
      requireWithin("target", i, targetOffset(i), length(i), targetBytes);
    }
  }

  /**
   * Whether the outcome depends on the order of the ranges, because a byte is written twice, or
   * written and read. The ranges must be within their regions.
   *
   * @param oneRegion whether source and target are the same region
   */
  public boolean isAmbiguous(boolean oneRegion) {
    if (!oneRegion && targetsAscend()) {
      return false;
    }
    var touched = new ArrayList<Interval>();
    for (var i = 0; i < count(); i++) {
      if (length(i) > 0) {
        touched.add(new Interval(targetOffset(i), targetOffset(i) + length(i), true));
        if (oneRegion) {
          touched.add(new Interval(sourceOffset(i), sourceOffset(i) + length(i), false));
        }
      }
    }
    touched.sort(Comparator.comparingLong(Interval::begin));
    long anyEnd = 0;
    long writtenEnd = 0;
    for (var interval : touched) {
      if (interval.begin < (interval.written ? anyEnd : writtenEnd)) {
        return true;
      }
      anyEnd = Math.max(anyEnd, interval.end);
      writtenEnd = interval.written ? Math.max(writtenEnd, interval.end) : writtenEnd;
    }
    return false;
  }

  private record Interval(long begin, long end, boolean written) {}

  /**
   * Whether the target ranges ascend without overlap. Blocks mostly come in order; then one pass
   * without extra memory decides.
   */
  private boolean targetsAscend() {
    long end = 0;
    for (var i = 0; i < count(); i++) {
      if (length(i) > 0) {
        if (targetOffset(i) < end) {
          return false;
        }
        end = targetOffset(i) + length(i);
      }
    }
    return true;
  }

  private static void requireWithin(String side, int index, long offset, long length, long bytes) {
    if ((offset | length) < 0 || length > bytes - offset) {
      throw new IndexOutOfBoundsException(
          "range %d: %s offset %d, length %d is not within %d bytes"
              .formatted(index, side, offset, length, bytes));
    }
  }
}
