package io.dynamo.model.vocabulary;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * GPT-2's alphabet: each byte has a printable character, itself where it is printable, else one
 * from U+0100 up.
 */
public final class ByteAlphabet {
  private static final short[] BYTE_OF = new short[512];
  private static final char[] CHAR_OF = new char[256];

  static {
    Arrays.fill(BYTE_OF, (short) -1);
    int next = 256;
    for (int b = 0; b < 256; b++) {
      boolean printable = (b >= '!' && b <= '~') || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
      CHAR_OF[b] = (char) (printable ? b : next++);
      BYTE_OF[CHAR_OF[b]] = (short) b;
    }
  }

  private ByteAlphabet() {}

  /** The bytes a vocabulary entry spells; one that leaves the alphabet stands for its own text. */
  public static byte[] bytes(String entry) {
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

  /** The characters of {@code bytes}. */
  public static String spelled(byte[] bytes) {
    var chars = new char[bytes.length];
    for (int i = 0; i < bytes.length; i++) {
      chars[i] = CHAR_OF[bytes[i] & 0xff];
    }
    return new String(chars);
  }
}
