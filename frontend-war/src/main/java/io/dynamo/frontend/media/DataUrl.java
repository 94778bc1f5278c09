package io.dynamo.frontend.media;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.Locale;

/**
 * Reads and writes {@code data} URLs (RFC 2397).
 *
 * @param type the media type in lower case, without parameters; {@code text/plain} when none is
 *     given
 * @param base64 whether the data are in base64, else they are percent-encoded
 * @param text the URL
 * @param start of the data in {@code text}
 */
record DataUrl(String type, boolean base64, String text, int start) {
  private static final String SCHEME = "data:";
  private static final String BASE64 = ";base64";
  private static final int MAX_HEAD = 256; // characters before the data

  /** Whether a text is a data URL, well-formed or not. */
  static boolean is(String url) {
    return url.regionMatches(true, 0, SCHEME, 0, SCHEME.length());
  }

  /** Reads the head of a data URL. The data are not looked at. */
  static DataUrl parse(String url) throws MediaException {
    int comma = is(url) ? url.indexOf(',') : -1;
    if (comma < 0 || comma > MAX_HEAD) {
      throw wrong("a data URL is data:TYPE;base64, and the data");
    }
    var head = url.substring(SCHEME.length(), comma).toLowerCase(Locale.ROOT).replace(" ", "");
    boolean base64 = head.endsWith(BASE64);
    var type = base64 ? head.substring(0, head.length() - BASE64.length()) : head;
    int parameters = type.indexOf(';');
    if (parameters >= 0) {
      type = type.substring(0, parameters);
    }
    if (type.isEmpty()) {
      type = "text/plain";
    }
    if (!isType(type)) {
      throw wrong("a data URL names a media type such as image/png");
    }
    return new DataUrl(type, base64, url, comma + 1);
  }

  /** Whether a text is a media type without parameters. */
  static boolean isType(String text) {
    return text.matches("[a-z0-9][a-z0-9!#$&^_.+-]{0,63}/[a-z0-9][a-z0-9!#$&^_.+-]{0,63}");
  }

  /** Writes media as a data URL. */
  static String write(String type, byte[] content) {
    return SCHEME + type + BASE64 + "," + Base64.getEncoder().encodeToString(content);
  }

  /** The length of {@link #write} for so many bytes. */
  static long lengthOf(String type, long bytes) {
    return SCHEME.length() + type.length() + BASE64.length() + 1L + (bytes + 2) / 3 * 4;
  }

  /** The most bytes that the data can stand for. */
  long mostBytes() {
    long characters = (long) text.length() - start;
    return base64 ? (characters + 3) / 4 * 3 : characters;
  }

  /**
   * Decodes the data.
   *
   * @param maxBytes longer ones are refused before they are decoded
   */
  byte[] decode(long maxBytes) throws MediaException {
    if (mostBytes() > maxBytes + 2) { // of the padding
      throw MediaException.tooLarge(maxBytes);
    }
    return decode(start, text.length());
  }

  /** Decodes the first bytes of the data, at least {@code bytes} where there are so many. */
  byte[] decodeHead(int bytes) throws MediaException {
    long characters = base64 ? (bytes + 2L) / 3 * 4 : bytes;
    return decode(start, (int) Math.min(text.length(), start + characters));
  }

  private byte[] decode(int from, int to) throws MediaException {
    if (!base64) {
      return percentDecoded(from, to);
    }
    try {
      return Base64.getDecoder()
          .decode(text.substring(from, to).getBytes(StandardCharsets.ISO_8859_1));
    } catch (IllegalArgumentException e) {
      throw wrong("the data of the data URL are no base64 by RFC 4648");
    }
  }

  private byte[] percentDecoded(int from, int to) throws MediaException {
    var bytes = new byte[to - from];
    int count = 0;
    for (int i = from; i < to; i++) {
      char c = text.charAt(i);
      if (c == '%') {
        if (i + 2 >= to) {
          break; // cut
        }
        int high = Character.digit(text.charAt(i + 1), 16);
        int low = Character.digit(text.charAt(i + 2), 16);
        if (high < 0 || low < 0) {
          throw wrong("a % of the data URL is not followed by two hex digits");
        }
        bytes[count++] = (byte) (high << 4 | low);
        i += 2;
      } else if (c > ' ' && c < 0x7f) {
        bytes[count++] = (byte) c;
      } else {
        throw wrong("the data of the data URL are neither base64 nor percent-encoded");
      }
    }
    return Arrays.copyOf(bytes, count);
  }

  private static MediaException wrong(String message) {
    return new MediaException(MediaException.Reason.WRONG_TYPE, message);
  }
}
