package io.dynamo.natives;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Java's side of the two rings of a {@link TransferThread}; their bytes are drawn in {@code
 * core/rings.h}. Submissions are written by one thread at a time, completions read by one.
 */
public final class TransferRings {
  /** Receives completions. */
  @FunctionalInterface
  public interface Completions {
    /**
     * @param status a {@linkplain NativeStatus status code}
     * @param bytes the bytes that were moved, also by a batch that failed
     * @param micros from the arrival of the batch to its end
     */
    void completed(long ticket, int status, long bytes, long micros);
  }

  private static final VarHandle LONG =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());
  private static final int ALIGNMENT = 64;
  private static final int CONTROL_BYTES = 256;
  private static final int OTHER_SIDE = 64;
  private static final int ASLEEP = 128;
  private static final int HEADER_BYTES = 64;
  private static final int RANGE_BYTES = 24;
  private static final int COMPLETION_BYTES = 32;
  private static final long COPY = 1;
  private static final long PAD = 255;
  private static final int ONBOARD_BIT = 16;
  private static final int COUNT_SHIFT = 32;

  private final ByteBuffer submissions;
  private final ByteBuffer completions;
  private final int submitBytes;
  private final int capacity;
  private long tail; // of the submissions
  private long taken; // completions

  /**
   * @param submitBytes room for submissions, a power of two
   * @param capacity completions that may wait, a power of two
   */
  public TransferRings(int submitBytes, int capacity) {
    requirePowerOfTwo(submitBytes);
    requirePowerOfTwo(capacity);
    this.submitBytes = submitBytes;
    this.capacity = capacity;
    this.submissions = memory(submitBytes);
    this.completions = memory(Math.multiplyExact(capacity, COMPLETION_BYTES));
  }

  private static void requirePowerOfTwo(int size) {
    if (Integer.bitCount(size) != 1) {
      throw new IllegalArgumentException("a ring of " + size + " is no power of two");
    }
  }

  private static ByteBuffer memory(int bytes) {
    return ByteBuffer.allocateDirect(CONTROL_BYTES + bytes + ALIGNMENT)
        .alignedSlice(ALIGNMENT)
        .limit(CONTROL_BYTES + bytes)
        .slice()
        .order(ByteOrder.nativeOrder());
  }

  /** Returns the memory of both rings for {@link TransferThread#open}. */
  public ByteBuffer submissions() {
    return submissions;
  }

  public ByteBuffer completions() {
    return completions;
  }

  /** Returns how many batches may be on their way at once. */
  public int capacity() {
    return capacity;
  }

  /** Returns how many ranges fit into the ring in one batch. */
  public int maxRanges() {
    return (submitBytes / 2 - HEADER_BYTES) / RANGE_BYTES;
  }

  /**
   * Writes a batch.
   *
   * @param onboard whether it goes before those that are not
   * @param deadlineNanos in terms of {@link System#nanoTime()}
   * @param triples source offset, target offset and length of each range, at most {@link
   *     #maxRanges}
   * @return false when the ring has no room now
   */
  public boolean offer(
      long ticket, boolean onboard, long source, long target, long deadlineNanos, long[] triples) {
    int count = triples.length / 3;
    if (count > maxRanges()) {
      throw new IllegalArgumentException(
          "%d ranges exceed the %d of one batch".formatted(count, maxRanges()));
    }
    int length = HEADER_BYTES + roundUp(count * RANGE_BYTES);
    int untilEnd = submitBytes - at(tail);
    int needed = length > untilEnd ? untilEnd + length : length;
    long head = (long) LONG.getAcquire(submissions, OTHER_SIDE);
    if (tail + needed - head > submitBytes) {
      return false;
    }
    if (length > untilEnd) {
      putLong(tail + 8, PAD);
      tail += untilEnd;
    }
    putLong(tail, ticket);
    putLong(tail + 8, COPY | (onboard ? 1L << ONBOARD_BIT : 0) | (long) count << COUNT_SHIFT);
    putLong(tail + 16, source);
    putLong(tail + 24, target);
    putLong(tail + 32, 0);
    putLong(tail + 40, deadlineNanos == 0 ? 1 : deadlineNanos); // 0 stands for none
    putLong(tail + 48, 0);
    putLong(tail + 56, 0);
    int from = CONTROL_BYTES + at(tail) + HEADER_BYTES; // a record never wraps
    for (int i = 0; i < triples.length; i++) {
      submissions.putLong(from + i * Long.BYTES, triples[i]);
    }
    tail += length;
    LONG.setVolatile(submissions, 0, tail);
    return true;
  }

  /** Whether the native thread sleeps and must be woken; checked after each {@link #offer}. */
  public boolean wantsKick() {
    return (long) LONG.getVolatile(submissions, ASLEEP) != 0;
  }

  /** Passes all completions that have arrived to the receiver. Returns how many. */
  public int drain(Completions to) {
    long there = (long) LONG.getAcquire(completions, 0);
    int count = (int) (there - taken);
    while (taken != there) {
      int from = CONTROL_BYTES + ((int) taken & (capacity - 1)) * COMPLETION_BYTES;
      long ticket = completions.getLong(from);
      long word = completions.getLong(from + 8);
      long bytes = completions.getLong(from + 16);
      taken++;
      LONG.setRelease(completions, OTHER_SIDE, taken);
      to.completed(ticket, (int) word, bytes, word >>> COUNT_SHIFT);
    }
    return count;
  }

  private int at(long position) {
    return (int) (position & (submitBytes - 1));
  }

  private void putLong(long position, long value) {
    submissions.putLong(CONTROL_BYTES + at(position), value);
  }

  private static int roundUp(int bytes) {
    return (bytes + HEADER_BYTES - 1) & -HEADER_BYTES;
  }
}
