package io.dynamo.testing;

import java.util.ArrayList;
import java.util.List;

/** Names of JSON fields that a hash function of Jackson's symbol tables cannot tell apart. */
public final class CollidingKeys {
  private static final int INVERSE = 0x3e0f83e1; // of 33, the factor in the hash, modulo 2^32
  private static final int PRINTABLE = '~' - ' ' + 1;

  private CollidingKeys() {}

  /**
   * Returns strings of one hash when it is computed over characters, for every seed of the table.
   */
  public static List<String> ofCharacters(int count) {
    var keys = new ArrayList<String>(count);
    int pairs = Integer.SIZE - Integer.numberOfLeadingZeros(count);
    for (int i = 0; i < count; i++) {
      var key = new StringBuilder();
      for (int bit = 0; bit < pairs; bit++) {
        key.append((i >> bit & 1) == 0 ? "Aa" : "B@"); // 33 * 'A' + 'a' = 33 * 'B' + '@'
      }
      keys.add(key.toString());
    }
    return keys;
  }

  /** Eight characters each, of one hash when it is computed over groups of four bytes. */
  public static List<String> ofBytes(int count) {
    var keys = new ArrayList<String>(count);
    for (int i = 0; keys.size() < count; i++) {
      int first = 0;
      for (int rest = i, at = 0; at < 4; at++, rest /= PRINTABLE) {
        first = first << Byte.SIZE | ' ' + rest % PRINTABLE;
      }
      int second = (0x12345678 - mixed(first)) * INVERSE;
      if (isPlain(first) && isPlain(second)) {
        keys.add(text(first) + text(second));
      }
    }
    return keys;
  }

  /** Returns the hash of the first four bytes before the next four are added, times 33. */
  private static int mixed(int group) {
    int hash = group;
    hash += hash >>> 15;
    return hash ^ hash >>> 9;
  }

  private static boolean isPlain(int group) {
    for (char c : text(group).toCharArray()) {
      if (c < ' ' || c > '~' || c == '"' || c == '\\') {
        return false;
      }
    }
    return true;
  }

  private static String text(int group) {
    return ""
        + (char) (group >>> 24)
        + (char) (group >>> 16 & 0xff)
        + (char) (group >>> 8 & 0xff)
        + (char) (group & 0xff);
  }

  /** An object with those names. */
  public static String object(List<String> keys) {
    return "{\"" + String.join("\":1,\"", keys) + "\":1}";
  }
}
