package io.dynamo.frontend.preprocess;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * GPT-2's alphabet: each byte has a printable character, itself where it is printable, else one
 * from U+0100 up.
 */
final class ByteAlphabet {
  private static final short[] BYTE_OF = new short[512];

  static {
    Arrays.fill(BYTE_OF, (short) -1);
    int next = 256;
    for (int b = 0; b < 256; b++) {
      boolean printable = (b >= '!' && b <= '~') || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
      BYTE_OF[printable ? b : next++] = (short) b;
    }
  }

  private ByteAlphabet() {}

  /** The bytes a vocabulary entry spells; one that leaves the alphabet stands for its own text. */
  static byte[] bytes(String entry) {
    var bytes = new byte[entry.length()];
    for (int i = 0; i < bytes.length; i++) {
      char c = entry.charAt(i);
      if (c >= BYTE_OF.length || BYTE_OF[c] < 0) {
        return entry.getBytes(StandardCharsets.UTF_8);
      }
      bytes[i] = (byte) BYTE_OF[c];
    }
    return bytes;
  }
}
