package io.dynamo.frontend.preprocess;

import java.security.SecureRandom;

/**
 * SipHash-2-4 of a text's UTF-16 code units, little-endian: a keyed hash whose collisions nobody
 * can find who does not know the key (Aumasson and Bernstein, 2012). Immutable, safe for concurrent
 * use.
 */
final class SipHash {
  private static final int CHARS_PER_WORD = 4;

  private final long key0;
  private final long key1;

  SipHash(long key0, long key1) {
    this.key0 = key0;
    this.key1 = key1;
  }

  /** With a key that nobody knows. */
  static SipHash withRandomKey() {
    var random = new SecureRandom();
    return new SipHash(random.nextLong(), random.nextLong());
  }

  long of(String text) {
    long v0 = key0 ^ 0x736f6d6570736575L;
    long v1 = key1 ^ 0x646f72616e646f6dL;
    long v2 = key0 ^ 0x6c7967656e657261L;
    long v3 = key1 ^ 0x7465646279746573L;
    int words = text.length() / CHARS_PER_WORD;
    for (int word = 0; word <= words + 1; word++) {
      boolean finish = word > words;
      long m = finish ? 0 : word(text, word * CHARS_PER_WORD, word == words);
      if (finish) {
        v2 ^= 0xff;
      } else {
        v3 ^= m;
      }
      for (int round = finish ? 4 : 2; round > 0; round--) {
        v0 += v1;
        v1 = Long.rotateLeft(v1, 13) ^ v0;
        v0 = Long.rotateLeft(v0, 32);
        v2 += v3;
        v3 = Long.rotateLeft(v3, 16) ^ v2;
        v0 += v3;
        v3 = Long.rotateLeft(v3, 21) ^ v0;
        v2 += v1;
        v1 = Long.rotateLeft(v1, 17) ^ v2;
        v2 = Long.rotateLeft(v2, 32);
      }
      v0 ^= m;
    }
    return v0 ^ v1 ^ v2 ^ v3;
  }

  /** Eight bytes of the text; of the last word what is left, and the length in bytes on top. */
  private static long word(String text, int from, boolean last) {
    int to = last ? text.length() : from + CHARS_PER_WORD;
    long word = last ? (2L * text.length()) << 56 : 0;
    for (int i = from; i < to; i++) {
      word |= (long) text.charAt(i) << (16 * (i - from));
    }
    return word;
  }
}
