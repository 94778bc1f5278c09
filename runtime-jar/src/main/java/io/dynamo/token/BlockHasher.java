package io.dynamo.token;

import com.dynatrace.hash4j.hashing.Hasher64;
import com.dynatrace.hash4j.hashing.Hashing;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Hashes token ids block by block, as Dynamo does: XXH3-64 over the little-endian ids, seeded with
 * 1337 plus a value derived from the LoRA adapter and the cache salt. Immutable; safe for
 * concurrent use. Worth keeping where many prompts share block size, adapter and salt, because the
 * seed's secret is derived once.
 */
public final class BlockHasher {
  static final long BASE_SEED = 1337;
  static final Hasher64 UNSALTED = Hashing.xxh3_64(BASE_SEED);
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  private final int blockTokens;
  private final int window; // tokens covered by a block's hash
  private final Hasher64 hasher;
  private final Hasher64 chain;

  private BlockHasher(int blockTokens, boolean eagle, Hasher64 hasher, Hasher64 chain) {
    if (blockTokens < 1) {
      throw new IllegalArgumentException("a block of " + blockTokens + " tokens; it needs 1");
    }
    this.blockTokens = blockTokens;
    this.window = eagle ? blockTokens + 1 : blockTokens;
    this.hasher = hasher;
    this.chain = chain;
  }

  /** Returns a hasher of blocks of {@code blockTokens} tokens, without adapter and salt. */
  public static BlockHasher of(int blockTokens) {
    return new BlockHasher(blockTokens, false, UNSALTED, UNSALTED);
  }

  /**
   * Returns a hasher whose blocks are equal only within one adapter and salt.
   *
   * @param loraName the adapter's name; null and empty mean the model itself
   * @param salt the request's {@code cache_salt}; null and empty mean none
   */
  public static BlockHasher of(int blockTokens, @Nullable String loraName, @Nullable String salt) {
    long seed = seed(loraName, salt);
    return new BlockHasher(
        blockTokens, false, seed == BASE_SEED ? UNSALTED : Hashing.xxh3_64(seed), UNSALTED);
  }

  /** Returns a hasher with secret seeds for the blocks' contents and chain. */
  static BlockHasher keyed(int blockTokens, boolean eagle, long blockSeed, long chainSeed) {
    return new BlockHasher(
        blockTokens, eagle, Hashing.xxh3_64(blockSeed), Hashing.xxh3_64(chainSeed));
  }

  /**
   * Returns the same hasher for a model that drafts its own tokens (EAGLE): a block's hash covers
   * its tokens and the one after them, so that a block without a successor has none.
   */
  public BlockHasher eagle() {
    return new BlockHasher(blockTokens, true, hasher, chain);
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
   * Returns the hash of a prefix that ends in a block of content {@code block} and follows {@code
   * parent}.
   */
  public static long chain(long parent, long block) {
    return UNSALTED.hashLongLongToLong(parent, block);
  }

  public int blockTokens() {
    return blockTokens;
  }

  /** Returns the number of tokens covered by a block's hash. */
  int window() {
    return window;
  }

  /** Returns the hash as {@link #chain} does, within this hasher's own chains. */
  long link(long parent, long block) {
    return chain.hashLongLongToLong(parent, block);
  }

  /** Hashes the complete blocks of {@code tokenIds}; an incomplete last block has no hash. */
  public BlockHashes hash(int[] tokenIds) {
    return hash(tokenIds, List.of());
  }

  /**
   * Hashes the complete blocks of {@code tokenIds} together with their media.
   *
   * @param media the hashes of each block's images and other media, unsigned, in any order; blocks
   *     beyond its end have none, and entries beyond the last block are ignored
   */
  public BlockHashes hash(int[] tokenIds, List<long[]> media) {
    int stretch = window - blockTokens;
    var blocks = new long[Math.max(0, tokenIds.length - stretch) / blockTokens];
    var scratch = scratch();
    for (int i = 0; i < blocks.length; i++) {
      blocks[i] =
          i < media.size() && media.get(i).length > 0
              ? block(tokenIds, i * blockTokens, media.get(i))
              : block(tokenIds, i * blockTokens, scratch);
    }
    return BlockHashes.chained(blocks, chain);
  }

  byte[] scratch() {
    return new byte[Math.multiplyExact(window, Integer.BYTES)];
  }

  /**
   * Returns the content hash of the block that starts at {@code from}; overwrites {@code scratch}.
   */
  long block(int[] tokenIds, int from, byte[] scratch) {
    for (int i = 0; i < window; i++) {
      INT.set(scratch, i * Integer.BYTES, tokenIds[from + i]);
    }
    return hasher.hashBytesToLong(scratch, 0, scratch.length);
  }

  /** Hashes the ids, then the hashes of the media in ascending order. */
  private long block(int[] tokenIds, int from, long[] media) {
    var bytes =
        ByteBuffer.allocate(window * Integer.BYTES + media.length * Long.BYTES)
            .order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < window; i++) {
      bytes.putInt(tokenIds[from + i]);
    }
    LongStream.of(media).boxed().sorted(Long::compareUnsigned).forEach(hash -> bytes.putLong(hash));
    return hasher.hashBytesToLong(bytes.array());
  }
}
