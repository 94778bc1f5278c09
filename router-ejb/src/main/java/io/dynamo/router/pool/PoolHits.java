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
   * @param held of each block whether it is there
   */
  public static PoolHits of(boolean... held) {
    var before = new int[held.length + 1];
    for (int i = 0; i < held.length; i++) {
      before[i + 1] = before[i] + (held[i] ? 1 : 0);
    }
    return before[held.length] == 0 ? NONE : new PoolHits(before);
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
