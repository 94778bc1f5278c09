package io.dynamo.router.pool;

/** Which blocks of one prompt a shared pool holds. Immutable. */
public final class PoolHits {
  /** None. */
  public static final PoolHits NONE = new PoolHits(new int[1]);

  private final int[] before; // how many of the first 0, 1, 2, … blocks it holds

  private PoolHits(int[] before) {
    this.before = before;
  }

  /**
   * @param before how many of the first 0, 1, 2, … blocks are there; owned by the result
   */
  static PoolHits of(int[] before) {
    return before[before.length - 1] == 0 ? NONE : new PoolHits(before);
  }

  /** Blocks of the prompt that are there, anywhere in it. */
  public int total() {
    return before[before.length - 1];
  }

  /** Those of them that do not belong to its first {@code blocks}; they need not hang together. */
  public int beyond(int blocks) {
    return total() - before[Math.min(blocks, before.length - 1)];
  }
}
