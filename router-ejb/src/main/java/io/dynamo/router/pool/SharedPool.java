package io.dynamo.router.pool;

/**
 * Looks up which blocks the workers of one endpoint can fetch from a cache that they share. Safe
 * for concurrent use.
 */
public interface SharedPool extends AutoCloseable {
  /**
   * Says which blocks of a prompt it holds, as far as it has heard; never waits.
   *
   * @param tokenIds the prompt; not changed
   * @param blockTokens tokens per block, at least 1
   */
  PoolHits find(int[] tokenIds, int blockTokens);

  /** The workers' model cards may say something else of it now. Never waits. */
  void cardsChanged();

  @Override
  void close();
}
