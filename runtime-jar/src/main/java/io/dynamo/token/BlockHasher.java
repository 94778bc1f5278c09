package io.dynamo.token;

import com.dynatrace.hash4j.hashing.Hasher64;
import com.dynatrace.hash4j.hashing.Hashing;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Hashes token ids block by block, as Dynamo does: XXH3-64 over the little-endian ids, seeded with
 * 1337 plus what the LoRA adapter and the cache salt add. Immutable; safe for concurrent use. Worth
 * keeping where many prompts share block size, adapter and salt, because the seed's secret is
 * derived once.
 */
public final class BlockHasher {
  static final long BASE_SEED = 1337;
  private static final Hasher64 UNSALTED = Hashing.xxh3_64(BASE_SEED);
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  private final int blockTokens;
  private final Hasher64 hasher;

  private BlockHasher(int blockTokens, Hasher64 hasher) {
    if (blockTokens < 1) {
      throw new IllegalArgumentException("a block of " + blockTokens + " tokens; it needs 1");
    }
    this.blockTokens = blockTokens;
    this.hasher = hasher;
  }

  /** Blocks of {@code blockTokens} tokens, without adapter and salt. */
  public static BlockHasher of(int blockTokens) {
    return new BlockHasher(blockTokens, UNSALTED);
  }

  /**
   * Blocks that are only equal within one adapter and salt.
   *
   * @param loraName the adapter's name; null and empty mean the model itself
   * @param salt the request's {@code cache_salt}; null and empty mean none
   */
  public static BlockHasher of(int blockTokens, @Nullable String loraName, @Nullable String salt) {
    long seed = seed(loraName, salt);
    return new BlockHasher(blockTokens, seed == BASE_SEED ? UNSALTED : Hashing.xxh3_64(seed));
  }

  static long seed(@Nullable String loraName, @Nullable String salt) {
    return BASE_SEED + part(loraName, 0) + part(salt, 1);
  }

  private static long part(@Nullable String text, long seed) {
    return text == null || text.isEmpty()
        ? 0
        : Hashing.xxh3_64(seed).hashBytesToLong(text.getBytes(StandardCharsets.UTF_8));
  }

  /**
   * The hash of a prefix that ends in a block of content {@code block} and follows {@code parent}.
   */
  static long chain(long parent, long block) {
    return UNSALTED.hashLongLongToLong(parent, block);
  }

  public int blockTokens() {
    return blockTokens;
  }

  /** Hashes the complete blocks of {@code tokenIds}; what is left over at the end has no hash. */
  public BlockHashes hash(int[] tokenIds) {
    var blocks = new long[tokenIds.length / blockTokens];
    var scratch = scratch();
    for (int i = 0; i < blocks.length; i++) {
      blocks[i] = block(tokenIds, i * blockTokens, scratch);
    }
    return BlockHashes.ofBlocks(blocks);
  }

  byte[] scratch() {
    return new byte[Math.multiplyExact(blockTokens, Integer.BYTES)];
  }

  /** The content hash of the block that starts at {@code from}; overwrites {@code scratch}. */
  long block(int[] tokenIds, int from, byte[] scratch) {
    for (int i = 0; i < blockTokens; i++) {
      INT.set(scratch, i * Integer.BYTES, tokenIds[from + i]);
    }
    return hasher.hashBytesToLong(scratch, 0, scratch.length);
  }
}
