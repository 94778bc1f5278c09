package io.dynamo.token;

import com.dynatrace.hash4j.hashing.Hasher64;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The hashes of a prompt's complete blocks, in order: each block's content, and each prefix that
 * ends with it. Immutable; hashes are unsigned.
 */
public final class BlockHashes {
  private static final BlockHashes NONE = new BlockHashes(new long[0], new long[0]);

  private final long @Nullable [] blocks; // null when only the prefixes are known
  private final long[] sequences;

  private BlockHashes(long @Nullable [] blocks, long[] sequences) {
    this.blocks = blocks;
    this.sequences = sequences;
  }

  /** Hashes the complete blocks of {@code tokenIds}, without adapter and salt. */
  public static BlockHashes of(int[] tokenIds, int blockTokens) {
    return BlockHasher.of(blockTokens).hash(tokenIds);
  }

  /**
   * Chains content hashes that are already known.
   *
   * @param blocks owned by the result from now on
   */
  public static BlockHashes ofBlocks(long... blocks) {
    return chained(blocks, BlockHasher.UNSALTED);
  }

  static BlockHashes chained(long[] blocks, Hasher64 chain) {
    if (blocks.length == 0) {
      return NONE;
    }
    var sequences = new long[blocks.length];
    sequences[0] = blocks[0];
    for (int i = 1; i < blocks.length; i++) {
      sequences[i] = chain.hashLongLongToLong(sequences[i - 1], blocks[i]);
    }
    return new BlockHashes(blocks, sequences);
  }

  /**
   * Returns prefixes whose blocks' contents are unknown.
   *
   * @param sequences owned by the result from now on
   */
  public static BlockHashes ofSequences(long... sequences) {
    return sequences.length == 0 ? NONE : new BlockHashes(null, sequences);
  }

  /**
   * Returns the sequence hash of the block with content hash {@code block} behind {@code parent}.
   */
  public static long chain(long parent, long block) {
    return BlockHasher.chain(parent, block);
  }

  /** Returns the number of complete blocks. */
  public int length() {
    return sequences.length;
  }

  /**
   * Returns the content hash of block {@code index}, independent of its position.
   *
   * @throws IllegalStateException when only the prefixes are known
   */
  public long block(int index) {
    if (blocks == null) {
      throw new IllegalStateException("the contents of " + this + " are not known");
    }
    return blocks[index];
  }

  /** Returns the hash of block {@code index} with all blocks before it. */
  public long sequence(int index) {
    return sequences[index];
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof BlockHashes that && Arrays.equals(sequences, that.sequences);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(sequences);
  }

  @Override
  public String toString() {
    int length = sequences.length;
    return length == 0
        ? "no block"
        : length + " blocks to " + Long.toUnsignedString(sequences[length - 1]);
  }
}
