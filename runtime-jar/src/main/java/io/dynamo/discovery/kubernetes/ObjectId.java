package io.dynamo.discovery.kubernetes;

import io.dynamo.discovery.InstanceId;
import java.nio.charset.StandardCharsets;

/**
 * Derives the instance id of a process from the name of its object, so that others know it before
 * they have read the object: SipHash-1-3 with a key of zeros over the name's UTF-8 bytes and one
 * byte 0xFF, the lower 53 bits. JSON numbers hold these without loss.
 */
final class ObjectId {
  /** The largest id. */
  static final long MAX = (1L << 53) - 1;

  private static final int END = 0xff; // after the name

  private ObjectId() {}

  static InstanceId of(String objectName) {
    var name = objectName.getBytes(StandardCharsets.UTF_8);
    var bytes = new byte[name.length + 1];
    System.arraycopy(name, 0, bytes, 0, name.length);
    bytes[name.length] = (byte) END;
    return new InstanceId(sipHash13(bytes) & MAX);
  }

  /** Hashes {@code bytes} by SipHash-1-3 with a key of zeros (Aumasson and Bernstein, 2012). */
  static long sipHash13(byte[] bytes) {
    long v0 = 0x736f6d6570736575L;
    long v1 = 0x646f72616e646f6dL;
    long v2 = 0x6c7967656e657261L;
    long v3 = 0x7465646279746573L;
    int words = bytes.length / Long.BYTES;
    for (int word = 0; word <= words + 1; word++) {
      boolean finish = word > words;
      long m = finish ? 0 : word(bytes, word * Long.BYTES, word == words);
      if (finish) {
        v2 ^= 0xff;
      } else {
        v3 ^= m;
      }
      for (int round = finish ? 3 : 1; round > 0; round--) {
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

  /** Eight bytes, little-endian; of the last word what is left, and the length on top. */
  private static long word(byte[] bytes, int from, boolean last) {
    int to = last ? bytes.length : from + Long.BYTES;
    long word = last ? (long) bytes.length << 56 : 0;
    for (int i = from; i < to; i++) {
      word |= (bytes[i] & 0xffL) << (8 * (i - from));
    }
    return word;
  }
}
