package io.dynamo.token;

import java.util.Arrays;

/**
 * Hashes a sequence that grows token by token; after each token it has the hashes that {@link
 * BlockHasher#hash} would compute for all tokens so far. One thread at a time.
 */
public final class SequenceHasher {
  private static final int FIRST_CAPACITY = 16; // blocks

  private final BlockHasher hasher;
  private final byte[] scratch;
  private final int[] open; // tokens of the incomplete window
  private int openTokens;
  private long[] blocks = new long[FIRST_CAPACITY];
  private long[] sequences = new long[FIRST_CAPACITY];
  private int length;

  public SequenceHasher(BlockHasher hasher) {
    this.hasher = hasher;
    this.scratch = hasher.scratch();
    this.open = new int[hasher.window()];
  }

  /**
   * Appends the next token.
   *
   * @return whether it completed a block, which is then the last of {@link #length()}
   */
  public boolean append(int tokenId) {
    open[openTokens++] = tokenId;
    if (openTokens < open.length) {
      return false;
    }
    if (length == blocks.length) {
      blocks = Arrays.copyOf(blocks, 2 * length);
      sequences = Arrays.copyOf(sequences, 2 * length);
    }
    long block = hasher.block(open, 0, scratch);
    blocks[length] = block;
    sequences[length] = length == 0 ? block : hasher.link(sequences[length - 1], block);
    length++;
    openTokens = open.length - hasher.blockTokens(); // the next window starts with them
    System.arraycopy(open, hasher.blockTokens(), open, 0, openTokens);
    return true;
  }

  /**
   * Appends the next tokens.
   *
   * @return how many blocks they completed
   */
  public int append(int[] tokenIds) {
    int before = length;
    for (int tokenId : tokenIds) {
      append(tokenId);
    }
    return length - before;
  }

  /** Returns the number of tokens so far. */
  public int tokens() {
    return length * hasher.blockTokens() + openTokens;
  }

  /** Returns the number of complete blocks so far. */
  public int length() {
    return length;
  }

  /** Returns the content hash of block {@code index}. */
  public long block(int index) {
    checkIndex(index);
    return blocks[index];
  }

  /** Returns the hash of block {@code index} with all blocks before it. */
  public long sequence(int index) {
    checkIndex(index);
    return sequences[index];
  }

  private void checkIndex(int index) {
    if (index < 0 || index >= length) {
      throw new IndexOutOfBoundsException("block " + index + " of " + length);
    }
  }
}
