package io.dynamo.frontend.preprocess.bpe;

import java.util.Arrays;

/** Token ids as they come, up to a bound. For one thread. */
public final class TokenList {
  private final int maxSize;
  private int[] ids;
  private int size;

  /**
   * @param expected ids; more may come
   * @param maxSize ids that may come
   */
  public TokenList(int expected, int maxSize) {
    this.maxSize = maxSize;
    ids = new int[Math.clamp(expected, 16, Math.max(16, maxSize))];
  }

  /**
   * @throws TooManyTokensException when it is one too many
   */
  public void add(int id) {
    reserve(1);
    ids[size++] = id;
  }

  /**
   * @throws TooManyTokensException when they are too many
   */
  public void addAll(int[] more) {
    add(more, more.length);
  }

  /** Adds the first {@code count} of {@code more}. */
  void add(int[] more, int count) {
    reserve(count);
    System.arraycopy(more, 0, ids, size, count);
    size += count;
  }

  private void reserve(int count) {
    long needed = (long) size + count;
    if (needed > maxSize) {
      throw new TooManyTokensException(maxSize);
    }
    if (needed > ids.length) {
      ids = Arrays.copyOf(ids, (int) Math.max(needed, Math.min(2L * size, maxSize)));
    }
  }

  /** How many more may come. */
  public int left() {
    return maxSize - size;
  }

  public int size() {
    return size;
  }

  public int[] toArray() {
    return from(0);
  }

  /** The ids from the place {@code start} on. */
  public int[] from(int start) {
    return Arrays.copyOfRange(ids, start, size);
  }
}
