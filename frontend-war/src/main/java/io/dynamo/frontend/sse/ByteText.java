package io.dynamo.frontend.sse;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A reusable buffer that UTF-8 text and JSON strings are appended to. For one thread. Holds no more
 * than its largest content; nothing is allocated per call once it has grown.
 */
public final class ByteText {
  private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
  private static final int MAX_BYTES = Integer.MAX_VALUE - 8; // the longest array of every JVM
  private static final int MOST_DIGITS = 32; // of a float, with sign and point
  private final FloatDigits floats = new FloatDigits();
  private byte[] bytes;
  private int size;

  public ByteText(int initialBytes) {
    bytes = new byte[Math.max(16, initialBytes)];
  }

  public int size() {
    return size;
  }

  public void clear() {
    size = 0;
  }

  /** Truncates to the {@code bytes} that {@link #size} returned earlier. */
  void backTo(int bytes) {
    size = Math.min(size, bytes);
  }

  /** Writes the content in one call. */
  public void writeTo(OutputStream out) throws IOException {
    out.write(bytes, 0, size);
  }

  public byte[] toByteArray() {
    return Arrays.copyOf(bytes, size);
  }

  public ByteText append(byte[] raw) {
    room(raw.length);
    System.arraycopy(raw, 0, bytes, size, raw.length);
    size += raw.length;
    return this;
  }

  /** Appends {@code length} bytes of {@code raw}. */
  public ByteText append(byte[] raw, int from, int length) {
    room(length);
    System.arraycopy(raw, from, bytes, size, length);
    size += length;
    return this;
  }

  /** Appends the content of {@code other}. */
  public ByteText append(ByteText other) {
    room(other.size);
    System.arraycopy(other.bytes, 0, bytes, size, other.size);
    size += other.size;
    return this;
  }

  /** Appends characters that are known to be ASCII. */
  @SuppressWarnings("deprecation") // the one copy without an encoder; right for ASCII
  public ByteText ascii(String text) {
    room(text.length());
    text.getBytes(0, text.length(), bytes, size);
    size += text.length();
    return this;
  }

  /** Appends a decimal number. */
  public ByteText number(long value) {
    if (value < 0) {
      return ascii(Long.toString(value));
    }
    int digits = 1;
    for (long rest = value / 10; rest > 0; rest /= 10) {
      digits++;
    }
    room(digits);
    size += digits;
    int at = size;
    long rest = value;
    do {
      bytes[--at] = (byte) ('0' + rest % 10);
      rest /= 10;
    } while (rest > 0);
    return this;
  }

  /** Appends a finite number, with as few digits as name it. */
  public ByteText number(float value) {
    if (!floats.find(Math.abs(value))) {
      return ascii(Float.toString(value));
    }
    room(MOST_DIGITS);
    if (value < 0) {
      bytes[size++] = '-';
    }
    int scale = floats.scale();
    int rest = floats.digits();
    int end = size + floats.length();
    for (int at = end - 1; at >= size; at--) {
      if (scale-- == 0) {
        bytes[at] = '.';
      } else {
        bytes[at] = (byte) ('0' + rest % 10);
        rest /= 10;
      }
    }
    size = end;
    return this;
  }

  /**
   * Appends {@code text} as a JSON string, quotes included. Control characters, quotes and
   * backslashes are escaped; a surrogate without its partner becomes U+FFFD, since UTF-8 cannot
   * hold it.
   */
  public ByteText quoted(String text) {
    int length = text.length();
    room(6L * length + 2); // the longest form of one char is a six-byte escape
    bytes[size++] = '"';
    for (int i = 0; i < length; i++) {
      char c = text.charAt(i);
      if (c >= 0x20 && c < 0x80 && c != '"' && c != '\\') {
        bytes[size++] = (byte) c;
      } else if (c < 0x80) {
        escape(c);
      } else if (c < 0x800) {
        bytes[size++] = (byte) (0xC0 | (c >> 6));
        bytes[size++] = (byte) (0x80 | (c & 0x3F));
      } else if (Character.isHighSurrogate(c)
          && i + 1 < length
          && Character.isLowSurrogate(text.charAt(i + 1))) {
        int point = Character.toCodePoint(c, text.charAt(++i));
        bytes[size++] = (byte) (0xF0 | (point >> 18));
        bytes[size++] = (byte) (0x80 | ((point >> 12) & 0x3F));
        bytes[size++] = (byte) (0x80 | ((point >> 6) & 0x3F));
        bytes[size++] = (byte) (0x80 | (point & 0x3F));
      } else {
        int unit = Character.isSurrogate(c) ? 0xFFFD : c;
        bytes[size++] = (byte) (0xE0 | (unit >> 12));
        bytes[size++] = (byte) (0x80 | ((unit >> 6) & 0x3F));
        bytes[size++] = (byte) (0x80 | (unit & 0x3F));
      }
    }
    bytes[size++] = '"';
    return this;
  }

  private void escape(char c) {
    bytes[size++] = '\\';
    switch (c) {
      case '"', '\\' -> bytes[size++] = (byte) c;
      case '\n' -> bytes[size++] = 'n';
      case '\r' -> bytes[size++] = 'r';
      case '\t' -> bytes[size++] = 't';
      case '\b' -> bytes[size++] = 'b';
      case '\f' -> bytes[size++] = 'f';
      default -> {
        bytes[size++] = 'u';
        bytes[size++] = '0';
        bytes[size++] = '0';
        bytes[size++] = HEX[c >> 4];
        bytes[size++] = HEX[c & 0xF];
      }
    }
  }

  private void room(long more) {
    long wanted = size + more;
    if (wanted > MAX_BYTES) {
      throw new IllegalStateException("a text of %d bytes is too long to send".formatted(wanted));
    }
    if (wanted > bytes.length) {
      bytes = Arrays.copyOf(bytes, (int) Math.min(MAX_BYTES, Math.max(bytes.length * 2L, wanted)));
    }
  }
}
