package io.dynamo.worker.engine.mock;

import com.dynatrace.hash4j.hashing.Hasher64;
import com.dynatrace.hash4j.hashing.Hashing;
import io.dynamo.token.BlockHash;
import io.dynamo.token.SequenceHash;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * Dynamo's hashes without adapter and salt: XXH3-64, seed 1337, over little-endian ids; a prefix is
 * its parent's hash and the block's.
 */
public final class Xxh3BlockHashing implements BlockHashing {
  private static final Hasher64 HASHER = Hashing.xxh3_64(1337);
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  @Override
  public BlockHash block(int[] tokens, int from, int count) {
    var bytes = new byte[Math.multiplyExact(count, Integer.BYTES)];
    for (int i = 0; i < count; i++) {
      INT.set(bytes, i * Integer.BYTES, tokens[from + i]);
    }
    return new BlockHash(HASHER.hashBytesToLong(bytes, 0, bytes.length));
  }

  @Override
  public SequenceHash sequence(@Nullable SequenceHash parent, BlockHash block) {
    return new SequenceHash(
        parent == null ? block.value() : HASHER.hashLongLongToLong(parent.value(), block.value()));
  }
}
