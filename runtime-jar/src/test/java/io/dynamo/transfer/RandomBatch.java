package io.dynamo.transfer;

import java.util.Random;

/**
 * A batch of ranges by chance, beside the copy by loops that it has to agree with: strides, sizes,
 * offsets and, where several ranges go at once, overlaps.
 *
 * @param isAmbiguous whether two targets overlap, so that the batch has to be refused
 * @param expected the bytes of the target after the batch
 */
public record RandomBatch(CopyBatch ranges, boolean isAmbiguous, byte[] expected) {
  /** Draws ranges that lie anywhere; a third of the batches have 200 of them. */
  public static RandomBatch scattered(Random random, byte[] source, byte[] target) {
    int count = random.nextInt(3) == 0 ? 200 : 1 + random.nextInt(30);
    int length = 1 + random.nextInt(Math.min(source.length, target.length) / count / 2);
    boolean overlaps = random.nextInt(5) == 0 && length > 1 && count > 1;
    int stride = overlaps ? length - 1 : length + random.nextInt(40);
    var ranges = new CopyBatch();
    var after = target.clone();
    int at = random.nextInt(64);
    for (int i = 0; i < count && at + length <= target.length; i++, at += stride) {
      if (random.nextInt(20) == 0) {
        ranges.add(random.nextInt(source.length), at, 0); // moves nothing
      }
      copy(ranges, source, random.nextInt(source.length - length + 1), after, at, length);
    }
    return new RandomBatch(ranges, overlaps, overlaps ? target : after);
  }

  /** Draws one range whose offsets and length are multiples of {@code alignment}. */
  public static RandomBatch single(Random random, byte[] source, byte[] target, int alignment) {
    int units = Math.min(source.length, target.length) / alignment;
    int length = random.nextInt(units + 1);
    int from = random.nextInt(units - length + 1);
    int to = random.nextInt(units - length + 1);
    var ranges = new CopyBatch();
    var after = target.clone();
    copy(ranges, source, from * alignment, after, to * alignment, length * alignment);
    return new RandomBatch(ranges, false, after);
  }

  /** Draws one range that begins where both sides do. */
  public static RandomBatch prefix(Random random, byte[] source, byte[] target) {
    int most = Math.min(source.length, target.length);
    int length =
        random.nextBoolean() ? random.nextInt(most + 1) : most >> random.nextInt(22); // any size
    var ranges = new CopyBatch();
    var after = target.clone();
    copy(ranges, source, 0, after, 0, length);
    return new RandomBatch(ranges, false, after);
  }

  private static void copy(
      CopyBatch ranges, byte[] source, int from, byte[] target, int to, int length) {
    ranges.add(from, to, length);
    System.arraycopy(source, from, target, to, length);
  }

  /** Returns the number of bytes that the ranges have. */
  public long byteSize() {
    long all = 0;
    for (int i = 0; i < ranges.count(); i++) {
      all += ranges.length(i);
    }
    return all;
  }
}
