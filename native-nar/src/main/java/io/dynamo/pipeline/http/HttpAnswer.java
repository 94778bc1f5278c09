package io.dynamo.pipeline.http;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The answer to one request.
 *
 * @param contentType null when there is no body to describe
 * @param headers further headers, by lower-case name
 */
public record HttpAnswer(
    int status, @Nullable String contentType, Map<String, String> headers, Body body) {
  /** The source of the answer's bytes. */
  public sealed interface Body {
    /** Bytes in memory, owned by the answer and never changed. */
    record Bytes(byte[] content) implements Body {}

    /** A file, sent in pieces; bytes appended while it is sent are left out. */
    record File(Path path) implements Body {}
  }

  public HttpAnswer {
    headers = Map.copyOf(headers);
  }

  public static HttpAnswer of(int status, String contentType, byte[] content) {
    return new HttpAnswer(status, contentType, Map.of(), new Body.Bytes(content));
  }

  /** Returns plain text in UTF-8. */
  public static HttpAnswer text(int status, String text) {
    return of(status, "text/plain; charset=utf-8", text.getBytes(StandardCharsets.UTF_8));
  }

  /** Returns a status line with {@code content-length: 0}. */
  public static HttpAnswer empty(int status, Map<String, String> headers) {
    return new HttpAnswer(status, null, headers, new Body.Bytes(new byte[0]));
  }

  /** Returns this answer with one more header, whose name is in lower case. */
  public HttpAnswer with(String name, String value) {
    var more = new HashMap<>(headers);
    more.put(name, value);
    return new HttpAnswer(status, contentType, more, body);
  }

  /** Returns the bytes of {@code path}, without looking at their format. */
  public static HttpAnswer file(Path path) {
    return new HttpAnswer(200, "application/octet-stream", Map.of(), new Body.File(path));
  }
}
