package io.dynamo.frontend.media;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An HTTP/1.1 answer (RFC 9112) as it is read from a connection that is used once: bounded in its
 * head, strict in its framing. For one thread.
 */
final class HttpReply {
  private static final int MAX_HEAD = 32 << 10; // bytes of all lines before the body
  private static final int MAX_INTERIM = 4; // answers of 1xx before the answer
  private static final int MAX_CHUNK_LINE = 256;
  private static final int UNKNOWN = -1;

  private final InputStream in;
  private final int status;
  private final Map<String, String> headers;
  private final long length; // of the body; UNKNOWN ends with the connection or the last chunk
  private final boolean chunked;
  private long left; // of the body, or of the chunk
  private boolean over;

  private HttpReply(InputStream in, int status, Map<String, String> headers) throws IOException {
    this.in = in;
    this.status = status;
    this.headers = headers;
    var coding = headers.get("transfer-encoding");
    var declared = headers.get("content-length");
    if (coding != null && (declared != null || !coding.equalsIgnoreCase("chunked"))) {
      throw new IOException("an answer with a transfer coding other than chunked, or two lengths");
    }
    chunked = coding != null;
    length = declared == null ? UNKNOWN : length(declared);
    left = chunked ? 0 : length;
  }

  /** Reads an answer up to its body. */
  static HttpReply read(InputStream in) throws IOException {
    int budget = MAX_HEAD;
    for (int interim = 0; interim <= MAX_INTERIM; interim++) {
      var line = line(in, budget);
      budget -= line.length();
      int status = status(line);
      var headers = new HashMap<String, String>();
      for (line = line(in, budget); !line.isEmpty(); line = line(in, budget)) {
        budget -= line.length() + 2;
        add(headers, line);
      }
      if (status >= 200) {
        return new HttpReply(in, status, headers);
      }
    }
    throw new IOException("too many interim answers");
  }

  private static int status(String line) throws IOException {
    if (!line.matches("HTTP/1\\.[01] [1-5]\\d\\d( .*)?")) {
      throw new IOException("no answer of HTTP/1.1");
    }
    return Integer.parseInt(line.substring(9, 12));
  }

  private static void add(Map<String, String> headers, String line) throws IOException {
    int colon = line.indexOf(':');
    if (colon < 1 || line.charAt(colon - 1) == ' ' || line.charAt(0) == ' ') {
      throw new IOException("a line of the head is no header");
    }
    var name = line.substring(0, colon).toLowerCase(Locale.ROOT);
    var value = line.substring(colon + 1).strip();
    var former = headers.put(name, value);
    if (former == null) {
      return;
    }
    if (name.equals("content-length") || name.equals("transfer-encoding")) {
      throw new IOException("an answer frames its body twice");
    }
    headers.put(name, former + ", " + value);
  }

  private static long length(String text) throws IOException {
    if (!text.matches("\\d{1,18}")) {
      throw new IOException("a length that is no number");
    }
    return Long.parseLong(text);
  }

  /** Reads a line of the head without its end. */
  private static String line(InputStream in, int maxBytes) throws IOException {
    var line = new StringBuilder();
    while (true) {
      int b = in.read();
      if (b < 0) {
        throw new EOFException("the connection ended before the body");
      }
      if (b == '\n') {
        int end = line.length();
        boolean carriage = end > 0 && line.charAt(end - 1) == '\r';
        return carriage ? line.substring(0, end - 1) : line.toString();
      }
      if (line.length() >= maxBytes) {
        throw new IOException("a head longer than " + MAX_HEAD + " bytes");
      }
      line.append((char) b);
    }
  }

  int status() {
    return status;
  }

  /** Returns the header of a lower-case name, repeated ones joined by commas; null when absent. */
  @Nullable String header(String name) {
    return headers.get(name);
  }

  /** Returns the declared length of the body; negative when it is not declared. */
  long length() {
    return length;
  }

  /**
   * Reads a part of the body.
   *
   * @return the number of bytes, at least 1; -1 at the end of the body
   * @throws EOFException when the connection ends before the body does
   */
  int read(byte[] into, int from, int most) throws IOException {
    if (over) {
      return -1;
    }
    if (chunked && left == 0) {
      left = chunk();
    }
    if (left == 0) {
      over = true;
      return -1;
    }
    int count = in.read(into, from, left < 0 ? most : (int) Math.min(most, left));
    if (count > 0 && left > 0) {
      left -= count;
      if (chunked && left == 0 && !line(in, MAX_CHUNK_LINE).isEmpty()) {
        throw new IOException("a chunk without its end");
      }
    }
    if (count < 0) {
      over = true;
      if (left > 0) {
        throw new EOFException("the connection ended before the body did");
      }
    }
    return count;
  }

  /** Reads the length of the next chunk; 0 is the last. What follows the last one is not read. */
  private long chunk() throws IOException {
    var line = line(in, MAX_CHUNK_LINE);
    int end = line.indexOf(';');
    var size = (end < 0 ? line : line.substring(0, end)).strip();
    if (!size.matches("[0-9A-Fa-f]{1,15}")) {
      throw new IOException("a chunk without a length");
    }
    return Long.parseLong(size, 16);
  }
}
