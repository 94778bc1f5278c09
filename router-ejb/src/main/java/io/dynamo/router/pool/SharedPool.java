package io.dynamo.router.pool;

/**
 * Looks up which blocks the workers of one endpoint can fetch from a cache that they share. Safe
 * for concurrent use.
 */
public interface SharedPool extends AutoCloseable {
  /**
   * Looks up which blocks of a prompt the pool has, by the events received so far; never waits.
   *
   * @param tokenIds the prompt; not changed
   * @param blockTokens tokens per block; at least 1
   */
  PoolHits find(int[] tokenIds, int blockTokens);

  /**
   * Reads the workers' model cards again, as their descriptions of the pool may have changed. Never
   * waits.
   */
  void cardsChanged();

  @Override
  void close();
}
