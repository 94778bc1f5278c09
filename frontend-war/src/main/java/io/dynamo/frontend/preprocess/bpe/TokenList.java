package io.dynamo.frontend.preprocess.bpe;

import java.util.Arrays;

/** Token ids as they come. For one thread. */
public final class TokenList {
  private int[] ids;
  private int size;

  /**
   * @param expected ids; more may come
   */
  public TokenList(int expected) {
    ids = new int[Math.max(16, expected)];
  }

  public void add(int id) {
    if (size == ids.length) {
      ids = Arrays.copyOf(ids, 2 * size);
    }
    ids[size++] = id;
  }

  void add(int[] more) {
    if (size + more.length > ids.length) {
      ids = Arrays.copyOf(ids, Math.max(2 * size, size + more.length));
    }
    System.arraycopy(more, 0, ids, size, more.length);
    size += more.length;
  }

  public int[] toArray() {
    return Arrays.copyOf(ids, size);
  }
}
