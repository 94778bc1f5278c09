package io.dynamo.worker.engine.mock;

import io.dynamo.token.BlockHash;
import io.dynamo.token.SequenceHash;
import io.dynamo.worker.engine.CacheScope;
import org.jspecify.annotations.Nullable;

/**
 * Computes the names of blocks; the router must compute the same names. Safe for concurrent use.
 */
public interface BlockHashing {
  /** Returns the name of the content of {@code count} tokens from {@code from}. */
  BlockHash block(int[] tokens, int from, int count);

  /**
   * Returns the name of a block together with all blocks before it; {@code parent} is null for the
   * first.
   */
  SequenceHash sequence(@Nullable SequenceHash parent, BlockHash block);

  /** Returns the hashing within one scope; its names equal those of no other scope. */
  BlockHashing within(CacheScope scope);
}
