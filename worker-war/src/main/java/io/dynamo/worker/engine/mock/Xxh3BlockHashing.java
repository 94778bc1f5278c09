package io.dynamo.worker.engine.mock;

import io.dynamo.token.BlockHash;
import io.dynamo.token.BlockHashes;
import io.dynamo.token.SequenceHash;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Dynamo's hashes, without adapter and salt. */
public final class Xxh3BlockHashing implements BlockHashing {
  @Override
  public BlockHash block(int[] tokens, int from, int count) {
    return new BlockHash(
        BlockHashes.of(Arrays.copyOfRange(tokens, from, from + count), count).block(0));
  }

  @Override
  public SequenceHash sequence(@Nullable SequenceHash parent, BlockHash block) {
    return new SequenceHash(
        parent == null ? block.value() : BlockHashes.chain(parent.value(), block.value()));
  }
}
