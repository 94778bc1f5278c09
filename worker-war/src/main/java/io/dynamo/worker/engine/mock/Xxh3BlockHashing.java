package io.dynamo.worker.engine.mock;

import io.dynamo.token.BlockHash;
import io.dynamo.token.BlockHasher;
import io.dynamo.token.BlockHashes;
import io.dynamo.token.SequenceHash;
import io.dynamo.worker.engine.CacheScope;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Computes Dynamo's block hashes with XXH3. */
public final class Xxh3BlockHashing implements BlockHashing {
  private final CacheScope scope;
  private volatile @Nullable BlockHasher hasher; // of the latest block size: there is only one

  /** Creates the hashing of requests without adapter and salt. */
  public Xxh3BlockHashing() {
    this(new CacheScope(null, null));
  }

  private Xxh3BlockHashing(CacheScope scope) {
    this.scope = scope;
  }

  @Override
  public BlockHash block(int[] tokens, int from, int count) {
    var by = hasher;
    if (by == null || by.blockTokens() != count) {
      by = BlockHasher.of(count, scope.adapter(), scope.salt());
      hasher = by;
    }
    return new BlockHash(by.hash(Arrays.copyOfRange(tokens, from, from + count)).block(0));
  }

  @Override
  public SequenceHash sequence(@Nullable SequenceHash parent, BlockHash block) {
    return new SequenceHash(
        parent == null ? block.value() : BlockHashes.chain(parent.value(), block.value()));
  }

  @Override
  public BlockHashing within(CacheScope other) {
    return other.isCommon() ? this : new Xxh3BlockHashing(other);
  }
}
