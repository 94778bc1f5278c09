package io.dynamo.frontend.preprocess.bpe;

import java.util.Arrays;

/**
 * The tokens of one piece while they are merged: the pair of the lowest rank first, among equals
 * the leftmost. In time n log n, so that a piece of a million letters does no harm. For one thread.
 */
final class Symbols {
  private final MergeTable merges;
  private final int[] ids; // NONE where a symbol went into the one before it
  private final int[] before;
  private final int[] after;
  private long[] heap; // rank above position, smallest first
  private int heapSize;

  Symbols(MergeTable merges, int[] ids) {
    this.merges = merges;
    this.ids = ids;
    this.before = new int[ids.length];
    this.after = new int[ids.length];
    this.heap = new long[Math.max(4, ids.length)];
    for (int i = 0; i < ids.length; i++) {
      before[i] = i - 1;
      after[i] = i + 1;
    }
  }

  /** Merges what can be merged. Returns what is left. */
  int[] merge() {
    for (int i = 0; i + 1 < ids.length; i++) {
      offer(i);
    }
    while (heapSize > 0) {
      long first = poll();
      apply((int) first, (int) (first >>> 32));
    }
    return Arrays.stream(ids).filter(id -> id != MergeTable.NONE).toArray();
  }

  /**
   * Merges the pair at {@code left}, if it still becomes what it would have when it was offered.
   */
  private void apply(int left, int rank) {
    int right = after[left];
    if (ids[left] == MergeTable.NONE || right == ids.length) {
      return;
    }
    int both = merges.merged(rank);
    int now = merges.rank(ids[left], ids[right]);
    if (now == MergeTable.NONE || merges.merged(now) != both) {
      return;
    }
    ids[left] = both;
    ids[right] = MergeTable.NONE;
    after[left] = after[right];
    if (after[left] < ids.length) {
      before[after[left]] = left;
      offer(left);
    }
    if (before[left] >= 0) {
      offer(before[left]);
    }
  }

  private void offer(int left) {
    int rank = merges.rank(ids[left], ids[after[left]]);
    if (rank == MergeTable.NONE) {
      return;
    }
    if (heapSize == heap.length) {
      heap = Arrays.copyOf(heap, 2 * heapSize);
    }
    long entry = (long) rank << 32 | left;
    int at = heapSize++;
    while (at > 0 && heap[(at - 1) >> 1] > entry) {
      heap[at] = heap[(at - 1) >> 1];
      at = (at - 1) >> 1;
    }
    heap[at] = entry;
  }

  private long poll() {
    long first = heap[0];
    long last = heap[--heapSize];
    int at = 0;
    while (true) {
      int child = 2 * at + 1;
      if (child + 1 < heapSize && heap[child + 1] < heap[child]) {
        child++;
      }
      if (child >= heapSize || heap[child] >= last) {
        break;
      }
      heap[at] = heap[child];
      at = child;
    }
    heap[at] = last;
    return first;
  }
}
