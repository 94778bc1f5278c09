package io.dynamo.request.codec;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** The field names of one map, told apart without a string per field. */
final class Keys {
  static final int END = -1;
  static final int UNKNOWN = -2;

  private final String[] names;
  private final byte[][] bytes;
  private final int longest;

  Keys(String... names) {
    this.names = names;
    bytes = new byte[names.length][];
    int most = 0;
    for (int i = 0; i < names.length; i++) {
      bytes[i] = names[i].getBytes(StandardCharsets.UTF_8);
      most = Math.max(most, bytes[i].length);
    }
    longest = most;
  }

  int longest() {
    return longest;
  }

  int size() {
    return names.length;
  }

  int indexOf(String name) {
    for (int i = 0; i < names.length; i++) {
      if (names[i].equals(name)) {
        return i;
      }
    }
    return UNKNOWN;
  }

  /**
   * @param expected where to look first: maps mostly come in the order of the names
   */
  int indexOf(byte[] name, int length, int expected) {
    for (int i = 0; i < bytes.length; i++) {
      int at = expected + i < bytes.length ? expected + i : expected + i - bytes.length;
      if (Arrays.equals(bytes[at], 0, bytes[at].length, name, 0, length)) {
        return at;
      }
    }
    return UNKNOWN;
  }
}
