package io.dynamo.frontend.preprocess.bpe;

import java.util.Arrays;

/**
 * The tokens of one piece while they are merged: the pair of the lowest rank first, among equals
 * the leftmost. In time n log n, so that a piece of a million letters does no harm, and in nine
 * bytes for each byte of the piece. For one thread.
 *
 * <p>A symbol stands at the place of its first byte; a bit per place says where symbols begin, as
 * they are short and their neighbours near. Beside each symbol stands the rank of the pair that
 * begins with it. A tree over blocks of ranks holds the lowest of each, so that the next pair is
 * found from its root.
 */
final class Symbols {
  private static final int BLOCK_BITS = 5; // ranks below one leaf of the tree
  private static final int NO_PAIR = Integer.MAX_VALUE;

  private final MergeTable merges;
  private final int[] ids;
  private final long[] starts; // a bit for each place where a symbol begins
  private final int[] ranks; // of the pair that begins there, or NO_PAIR
  private final int[] lowest; // a tree by heap's numbers, root at 1; leaves from `leaves` on
  private final int leaves; // a power of two

  /**
   * @param ids of the single bytes; changed by merging
   */
  Symbols(MergeTable merges, int[] ids) {
    this.merges = merges;
    this.ids = ids;
    this.starts = new long[(ids.length + Long.SIZE - 1) / Long.SIZE];
    this.ranks = new int[ids.length];
    int blocks = Math.max(1, (ids.length + (1 << BLOCK_BITS) - 1) >> BLOCK_BITS);
    this.leaves = Integer.highestOneBit(2 * blocks - 1);
    this.lowest = new int[2 * leaves];
    Arrays.fill(lowest, NO_PAIR);
    for (int at = 0; at < ids.length; at++) {
      starts[at >> 6] |= 1L << at;
      ranks[at] = at + 1 < ids.length ? rank(ids[at], ids[at + 1]) : NO_PAIR;
    }
    for (int block = 0; block < blocks; block++) {
      lowest[leaves + block] = lowestOfBlock(block);
    }
    for (int node = leaves - 1; node > 0; node--) {
      lowest[node] = Math.min(lowest[2 * node], lowest[2 * node + 1]);
    }
  }

  /** Merges the symbols as far as possible, and appends the remaining ones. */
  void merge(TokenList to) {
    for (int done = 1; lowest[1] != NO_PAIR; done++) {
      apply(first());
      if (done % ByteLevelBpe.PER_LOOK == 0) {
        ByteLevelBpe.checkWanted();
      }
    }
    int count = 0;
    for (int at = 0; at < ids.length; at = next(at)) {
      ids[count++] = ids[at];
    }
    to.add(ids, count);
  }

  /** The leftmost place of the lowest rank. */
  private int first() {
    int rank = lowest[1];
    int node = 1;
    while (node < leaves) {
      node *= 2;
      if (lowest[node] != rank) {
        node++;
      }
    }
    int at = (node - leaves) << BLOCK_BITS;
    while (ranks[at] != rank) {
      at++;
    }
    return at;
  }

  /** Merges the pair that begins at {@code left}. */
  private void apply(int left) {
    int right = next(left);
    ids[left] = merges.merged(ranks[left]);
    starts[right >> 6] &= ~(1L << right);
    int after = next(left);
    setRank(right, NO_PAIR);
    setRank(left, after < ids.length ? rank(ids[left], ids[after]) : NO_PAIR);
    if (left > 0) {
      int before = previous(left);
      setRank(before, rank(ids[before], ids[left]));
    }
  }

  private int rank(int left, int right) {
    int rank = merges.rank(left, right);
    return rank == MergeTable.NONE ? NO_PAIR : rank;
  }

  private void setRank(int at, int rank) {
    int old = ranks[at];
    if (old == rank) {
      return;
    }
    ranks[at] = rank;
    int block = at >> BLOCK_BITS;
    int node = leaves + block;
    if (rank > lowest[node] && old > lowest[node]) {
      return;
    }
    int least = rank <= lowest[node] ? rank : lowestOfBlock(block);
    while (node > 0 && lowest[node] != least) {
      lowest[node] = least;
      node >>= 1;
      if (node > 0) {
        least = Math.min(lowest[2 * node], lowest[2 * node + 1]);
      }
    }
  }

  private int lowestOfBlock(int block) {
    int least = NO_PAIR;
    int end = Math.min(ids.length, (block + 1) << BLOCK_BITS);
    for (int at = block << BLOCK_BITS; at < end; at++) {
      least = Math.min(least, ranks[at]);
    }
    return least;
  }

  /** The symbol behind the one at {@code at}, or the end. */
  private int next(int at) {
    int word = at >> 6;
    long bits = starts[word] & (-2L << at);
    while (bits == 0) {
      if (++word == starts.length) {
        return ids.length;
      }
      bits = starts[word];
    }
    return (word << 6) + Long.numberOfTrailingZeros(bits);
  }

  /** The symbol before the one at {@code at}, which is not the first. */
  private int previous(int at) {
    int word = at >> 6;
    long bits = starts[word] & ~(-1L << at);
    while (bits == 0) {
      bits = starts[--word];
    }
    return (word << 6) + Long.SIZE - 1 - Long.numberOfLeadingZeros(bits);
  }
}
