package io.dynamo.worker.engine.mock;

import io.dynamo.token.BlockHash;
import io.dynamo.token.BlockHasher;
import io.dynamo.token.BlockHashes;
import io.dynamo.token.SequenceHash;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Dynamo's hashes. */
public final class Xxh3BlockHashing implements BlockHashing {
  private final @Nullable String adapter;
  private final @Nullable String salt;
  private volatile @Nullable BlockHasher hasher; // of the latest block size: there is only one

  /** Without adapter and salt. */
  public Xxh3BlockHashing() {
    this(null, null);
  }

  private Xxh3BlockHashing(@Nullable String adapter, @Nullable String salt) {
    this.adapter = adapter;
    this.salt = salt;
  }

  @Override
  public BlockHash block(int[] tokens, int from, int count) {
    var by = hasher;
    if (by == null || by.blockTokens() != count) {
      by = BlockHasher.of(count, adapter, salt);
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
  public BlockHashing within(@Nullable String otherAdapter, @Nullable String otherSalt) {
    return otherAdapter == null && otherSalt == null
        ? this
        : new Xxh3BlockHashing(otherAdapter, otherSalt);
  }
}
