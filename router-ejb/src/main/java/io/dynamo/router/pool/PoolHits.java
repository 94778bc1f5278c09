package io.dynamo.router.pool;

/** The blocks of one prompt that a shared pool has. Immutable. */
public final class PoolHits {
  /** The result when the pool has no block of the prompt. */
  public static final PoolHits NONE = new PoolHits(new int[1]);

  private final int[] before; // at i, how many of the first i blocks the pool has

  private PoolHits(int[] before) {
    this.before = before;
  }

  /**
   * Creates the result from one flag per block.
   *
   * @param held at i, whether the pool has block i
   */
  public static PoolHits of(boolean... held) {
    var before = new int[held.length + 1];
    for (int i = 0; i < held.length; i++) {
      before[i + 1] = before[i] + (held[i] ? 1 : 0);
    }
    return before[held.length] == 0 ? NONE : new PoolHits(before);
  }

  /** Returns the number of blocks of the prompt that the pool has, anywhere in it. */
  public int total() {
    return before[before.length - 1];
  }

  /**
   * Returns how many of them are not among the prompt's first {@code blocks}; they need not be
   * consecutive.
   */
  public int beyond(int blocks) {
    return total() - before[Math.min(blocks, before.length - 1)];
  }
}
