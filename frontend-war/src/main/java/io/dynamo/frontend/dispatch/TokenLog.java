package io.dynamo.frontend.dispatch;

import java.util.Arrays;

/**
 * The tokens that a generation has delivered, in order. One writer at a time, which hands over
 * safely.
 */
final class TokenLog {
  private int[] ids = new int[64];
  private int size;

  void append(int[] more) {
    if (ids.length - size < more.length) {
      ids = Arrays.copyOf(ids, Math.max(ids.length * 2, size + more.length));
    }
    System.arraycopy(more, 0, ids, size, more.length);
    size += more.length;
  }

  int size() {
    return size;
  }

  int last() {
    return ids[size - 1];
  }

  int[] toArray() {
    return Arrays.copyOf(ids, size);
  }
}
