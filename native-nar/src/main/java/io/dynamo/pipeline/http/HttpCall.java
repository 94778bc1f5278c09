package io.dynamo.pipeline.http;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A request that has arrived whole. The body is owned by the record and never changed.
 *
 * @param path as on the wire, still percent-encoded, without the query
 * @param headers by lower-case name; the first of each name
 */
public record HttpCall(String method, String path, Map<String, String> headers, byte[] body) {
  public HttpCall {
    headers = Map.copyOf(headers);
  }

  /** The value of the header of that lower-case name; null when there is none. */
  public @Nullable String header(String name) {
    return headers.get(name);
  }
}
