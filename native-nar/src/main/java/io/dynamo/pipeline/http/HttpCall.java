package io.dynamo.pipeline.http;

import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/**
 * A request that has arrived completely. The body is owned by the record and never changed.
 *
 * @param path as on the wire, still percent-encoded, without the query
 * @param caller the client's end of the connection
 */
public record HttpCall(RequestHead head, String path, InetAddress caller, byte[] body) {
  public String method() {
    return head.method();
  }

  /** Returns the first value of the header of that lower-case name; null when there is none. */
  public @Nullable String header(String name) {
    return head.first(name);
  }
}
