package io.dynamo.router.pool;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** The key of one page of a prompt: the first half of a SHA-256 hash. */
record PageHash(long first, long second) {
  /** The number of hexadecimal digits of a whole hash. */
  static final int DIGITS = 64;

  private static final int HALF_DIGITS = 2 * Long.BYTES; // hexadecimal digits of one number

  static PageHash of(byte[] sha256) {
    var bytes = ByteBuffer.wrap(sha256);
    return new PageHash(bytes.getLong(), bytes.getLong());
  }

  /**
   * Reads a whole hash in lower case at index {@code at} of {@code text}; null when there is none.
   */
  static @Nullable PageHash read(String text, int at) {
    if (text.length() - at < DIGITS) {
      return null;
    }
    for (int i = at; i < at + DIGITS; i++) {
      char digit = text.charAt(i);
      if (!(digit >= '0' && digit <= '9') && !(digit >= 'a' && digit <= 'f')) {
        return null;
      }
    }
    return new PageHash(number(text, at), number(text, at + HALF_DIGITS));
  }

  private static long number(String text, int at) {
    return Long.parseUnsignedLong(text, at, at + HALF_DIGITS, 16);
  }
}
