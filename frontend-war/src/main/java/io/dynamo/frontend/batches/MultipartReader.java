package io.dynamo.frontend.batches;

import io.dynamo.frontend.ApiException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads the parts of a {@code multipart/form-data} body one after the other, in constant memory.
 * For one thread.
 */
public final class MultipartReader {
  /** Bytes of memory that a reader takes. */
  public static final int BYTES = 32 * 1024;

  private static final int MAX_HEAD = 8 * 1024;
  private static final int MAX_PARTS = 16;
  private static final int MAX_BOUNDARY = 70; // of the standard
  private static final Pattern BOUNDARY =
      Pattern.compile(";\\s*boundary=(?:\"([^\"]*)\"|([^\\s;\"]+))", Pattern.CASE_INSENSITIVE);
  private static final Pattern NAME = Pattern.compile(";\\s*name=(?:\"([^\"]*)\"|([^\\s;\"]+))");
  private static final Pattern FILE =
      Pattern.compile(";\\s*filename=(?:\"([^\"]*)\"|([^\\s;\"]+))");

  private final InputStream in;
  private final byte[] delimiter; // with the line end before it
  private final byte[] buffer = new byte[BYTES / 2];
  private int at;
  private int end;
  private int parts;
  private boolean ended; // the body

  private MultipartReader(InputStream in, String boundary) {
    this.in = in;
    this.delimiter = ("\r\n--" + boundary).getBytes(StandardCharsets.ISO_8859_1);
    buffer[0] = '\r'; // so that the first delimiter is as all others
    buffer[1] = '\n';
    end = 2;
  }

  /**
   * A part whose content is read next.
   *
   * @param file the name of the file; null for a field
   */
  public record Part(String name, @Nullable String file) {}

  /**
   * Opens a body.
   *
   * @throws ApiException with 415 when it is of another type
   */
  public static MultipartReader open(@Nullable String contentType, InputStream in) {
    var type = contentType == null ? "" : contentType;
    var boundary = BOUNDARY.matcher(type);
    if (!type.toLowerCase(Locale.ROOT).startsWith("multipart/form-data") || !boundary.find()) {
      throw new ApiException(
          415, "Expected request with Content-Type multipart/form-data and its boundary");
    }
    var text = boundary.group(1) == null ? boundary.group(2) : boundary.group(1);
    if (text.isEmpty() || text.length() > MAX_BOUNDARY) {
      throw new ApiException(
          400, "the boundary has %d characters, not 1 to 70".formatted(text.length()));
    }
    return new MultipartReader(in, text);
  }

  /** Goes to the next part, past what is left of the one before; null behind the last. */
  public @Nullable Part next() throws IOException {
    var rest = new byte[8 * 1024];
    while (parts > 0 && read(rest) >= 0) {
      // what nobody wanted
    }
    if (parts == 0) {
      while (read(rest) >= 0) {
        // before the first part
      }
    }
    if (ended || !skipDelimiter()) {
      return null;
    }
    if (++parts > MAX_PARTS) {
      throw new ApiException(400, "the form has more than " + MAX_PARTS + " parts");
    }
    var head = head();
    var name = value(NAME, head);
    if (name == null) {
      throw new ApiException(400, "a part of the form has no name");
    }
    return new Part(name, value(FILE, head));
  }

  private static @Nullable String value(Pattern pattern, String head) {
    for (var line : head.split("\r\n", -1)) {
      if (line.toLowerCase(Locale.ROOT).startsWith("content-disposition:")) {
        var found = pattern.matcher(line);
        if (found.find()) {
          return found.group(1) == null ? found.group(2) : found.group(1);
        }
      }
    }
    return null;
  }

  /** Skips a delimiter; returns whether a part follows. */
  private boolean skipDelimiter() throws IOException {
    at += delimiter.length;
    require(2);
    if (buffer[at] == '-' && buffer[at + 1] == '-') {
      ended = true;
      return false;
    }
    if (buffer[at] != '\r' || buffer[at + 1] != '\n') {
      throw new ApiException(400, "a delimiter of the form is not followed by a line end");
    }
    // the line end stays: it belongs to the end of a head without lines
    return true;
  }

  /** Reads the head of a part, behind the empty line that ends it. */
  private String head() throws IOException {
    for (int size = 4; size <= MAX_HEAD; size++) {
      require(size);
      int last = at + size - 1;
      if (buffer[last] == '\n'
          && buffer[last - 1] == '\r'
          && buffer[last - 2] == '\n'
          && buffer[last - 3] == '\r') {
        var head = new String(buffer, at, size, StandardCharsets.UTF_8);
        at += size - 2; // its last line end begins the delimiter of an empty part
        if (find() != 0) {
          at += 2;
        }
        return head;
      }
    }
    throw new ApiException(400, "the head of a part has more than " + MAX_HEAD + " bytes");
  }

  /** Fills the buffer until it has {@code count} bytes. */
  private void require(int count) throws IOException {
    while (end - at < count) {
      if (!fill()) {
        throw new ApiException(400, "the form breaks off");
      }
    }
  }

  /** Reads more; returns false at the end of the body. */
  private boolean fill() throws IOException {
    if (at > 0) {
      System.arraycopy(buffer, at, buffer, 0, end - at);
      end -= at;
      at = 0;
    }
    int count = in.read(buffer, end, buffer.length - end);
    if (count > 0) {
      end += count;
    }
    return count >= 0;
  }

  /** Reads content of the present part; returns the number of bytes, negative at its end. */
  public int read(byte[] into) throws IOException {
    while (true) {
      int delimited = find();
      if (delimited == 0) {
        return -1;
      }
      int free = delimited > 0 ? delimited : end - at - delimiter.length + 1;
      if (free > 0) {
        int count = Math.min(free, into.length);
        System.arraycopy(buffer, at, into, 0, count);
        at += count;
        return count;
      }
      if (!fill()) {
        throw new ApiException(400, "the form breaks off");
      }
    }
  }

  /** The distance of the next delimiter in the buffer; negative when there is none. */
  private int find() {
    for (int i = at; i + delimiter.length <= end; i++) {
      if (buffer[i] == '\r'
          && Arrays.equals(buffer, i, i + delimiter.length, delimiter, 0, delimiter.length)) {
        return i - at;
      }
    }
    return -1;
  }
}
