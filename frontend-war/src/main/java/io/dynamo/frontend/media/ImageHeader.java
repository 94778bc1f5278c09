package io.dynamo.frontend.media;

import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The type and size of an image by its first bytes. Nothing is decoded, so that a small file with
 * many pixels costs nothing.
 *
 * @param type the media type
 */
record ImageHeader(String type, int width, int height) {
  private static final byte[] PNG = {(byte) 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  private static final int PNG_BYTES = 24;
  private static final int BMP_BYTES = 26;
  private static final int WEBP_BYTES = 30;
  private static final int WEBP_MASK = 0x3fff;

  /**
   * Reads a PNG, JPEG, GIF, BMP or WebP.
   *
   * @param bytes the file, or its beginning
   * @return null when it is none of them, is cut before its size, or has no pixels
   */
  static @Nullable ImageHeader of(byte[] bytes) {
    var read = read(bytes);
    return read == null || read.width < 1 || read.height < 1 ? null : read;
  }

  private static @Nullable ImageHeader read(byte[] b) {
    if (startsWith(b, PNG)) {
      return b.length >= PNG_BYTES && hasText(b, 12, "IHDR")
          ? new ImageHeader("image/png", big(b, 16, 4), big(b, 20, 4))
          : null;
    }
    if (hasText(b, 0, "GIF87a") || hasText(b, 0, "GIF89a")) {
      return b.length >= 10 ? new ImageHeader("image/gif", little(b, 6, 2), little(b, 8, 2)) : null;
    }
    if (hasText(b, 0, "BM")) {
      // rows from the top have a negative height
      return b.length >= BMP_BYTES && little(b, 14, 4) >= 40
          ? new ImageHeader("image/bmp", little(b, 18, 4), Math.absExact(bounded(little(b, 22, 4))))
          : null;
    }
    if (hasText(b, 0, "RIFF") && hasText(b, 8, "WEBP")) {
      return b.length >= WEBP_BYTES ? webp(b) : null;
    }
    return b.length > 3 && big(b, 0, 3) == 0xffd8ff ? jpeg(b) : null;
  }

  private static int bounded(int height) {
    return height == Integer.MIN_VALUE ? 0 : height;
  }

  private static @Nullable ImageHeader webp(byte[] b) {
    if (hasText(b, 12, "VP8X")) {
      return new ImageHeader("image/webp", little(b, 24, 3) + 1, little(b, 27, 3) + 1);
    }
    if (hasText(b, 12, "VP8L")) {
      int packed = little(b, 21, 4);
      return b[20] == 0x2f
          ? new ImageHeader("image/webp", (packed & WEBP_MASK) + 1, (packed >>> 14 & WEBP_MASK) + 1)
          : null;
    }
    return hasText(b, 12, "VP8 ") && big(b, 23, 3) == 0x9d012a
        ? new ImageHeader("image/webp", little(b, 26, 2) & WEBP_MASK, little(b, 28, 2) & WEBP_MASK)
        : null;
  }

  /** Walks the segments of a JPEG up to the first frame. */
  private static @Nullable ImageHeader jpeg(byte[] b) {
    int at = 2;
    while (at + 4 <= b.length) {
      if ((b[at] & 0xff) != 0xff) {
        return null;
      }
      int marker = b[at + 1] & 0xff;
      if (marker == 0xff) { // filling
        at++;
        continue;
      }
      boolean isFrame =
          marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
      if (isFrame) {
        return at + 9 <= b.length
            ? new ImageHeader("image/jpeg", big(b, at + 7, 2), big(b, at + 5, 2))
            : null;
      }
      int length = big(b, at + 2, 2);
      if (marker == 0xd9 || marker == 0xda || length < 2) { // the end, or pixels without a frame
        return null;
      }
      at += 2 + length;
    }
    return null;
  }

  private static boolean startsWith(byte[] b, byte[] magic) {
    return hasText(b, 0, new String(magic, StandardCharsets.ISO_8859_1));
  }

  private static boolean hasText(byte[] b, int from, String text) {
    if (b.length < from + text.length()) {
      return false;
    }
    for (int i = 0; i < text.length(); i++) {
      if ((b[from + i] & 0xff) != text.charAt(i)) {
        return false;
      }
    }
    return true;
  }

  private static int big(byte[] b, int from, int count) {
    int value = 0;
    for (int i = 0; i < count; i++) {
      value = (value << 8) | (b[from + i] & 0xff);
    }
    return value;
  }

  private static int little(byte[] b, int from, int count) {
    int value = 0;
    for (int i = count - 1; i >= 0; i--) {
      value = (value << 8) | (b[from + i] & 0xff);
    }
    return value;
  }

  long pixels() {
    return (long) width * height;
  }

  @Override
  public String toString() {
    return String.format(Locale.ROOT, "%s of %d x %d", type, width, height);
  }
}
