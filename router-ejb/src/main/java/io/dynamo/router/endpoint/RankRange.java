package io.dynamo.router.endpoint;

/**
 * The data-parallel ranks of one worker: {@code count} ranks from {@code first} on.
 *
 * @param count at least 1
 */
public record RankRange(int first, int count) {
  /** The one rank of a worker without data parallelism. */
  public static final RankRange ONE = new RankRange(0, 1);

  public RankRange {
    if (first < 0 || count < 1 || first > Integer.MAX_VALUE - count) {
      throw new IllegalArgumentException(
          "%d ranks from %d; a worker has at least rank 0".formatted(count, first));
    }
  }

  boolean has(int rank) {
    return rank >= first && rank - first < count;
  }
}
