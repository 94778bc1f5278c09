package io.dynamo.frontend.openai;

import java.util.Arrays;

/**
 * The piece of a file that is arriving; it grows with its bytes. Filled by one thread; another may
 * empty it for good, and what arrives later is dropped.
 */
final class ArrivingPiece {
  private static final int SMALLEST = 8 * 1024;

  private final int most;
  private byte[] bytes = new byte[0]; // guarded by this, like all that follows
  private int length;
  private boolean cleared;

  /**
   * @param most bytes of a piece
   */
  ArrivingPiece(int most) {
    this.most = most;
  }

  /** Bytes of memory when {@code count} more bytes, or as many as there is room for, are added. */
  synchronized int capacityFor(int count) {
    int wanted = Math.min(most, length + count);
    int capacity = Math.max(bytes.length, Math.min(SMALLEST, most));
    while (capacity < wanted) {
      capacity = Math.min(most, 2 * capacity);
    }
    return capacity;
  }

  /** Adds at most {@code count} bytes; returns how many were added or dropped. */
  synchronized int add(byte[] from, int at, int count) {
    if (cleared) {
      return count;
    }
    int capacity = capacityFor(count);
    if (capacity > bytes.length) {
      bytes = Arrays.copyOf(bytes, capacity);
    }
    int added = Math.min(count, capacity - length);
    System.arraycopy(from, at, bytes, length, added);
    length += added;
    return added;
  }

  synchronized boolean isFull() {
    return length == most;
  }

  /** Takes the bytes out; the next ones are another piece. */
  synchronized byte[] drain() {
    var all = length == bytes.length ? bytes : Arrays.copyOf(bytes, length);
    bytes = new byte[0];
    length = 0;
    return all;
  }

  /** Frees the memory for good. */
  synchronized void clear() {
    cleared = true;
    bytes = new byte[0];
    length = 0;
  }
}
