package io.dynamo.worker.engine.mock;

import io.dynamo.token.BlockHash;
import io.dynamo.token.SequenceHash;
import io.dynamo.worker.engine.CacheScope;
import org.jspecify.annotations.Nullable;

/** How blocks are named; the router must name them alike. Safe for concurrent use. */
public interface BlockHashing {
  /** Names the content of {@code count} tokens from {@code from}. */
  BlockHash block(int[] tokens, int from, int count);

  /** Names a block together with all before it; {@code parent} is null for the first. */
  SequenceHash sequence(@Nullable SequenceHash parent, BlockHash block);

  /** The names within one scope, which are equal to no others. */
  BlockHashing within(CacheScope scope);
}
