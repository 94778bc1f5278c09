package io.dynamo.config.plane;

import java.util.List;

/**
 * The request planes of a server. Keys: {@code dynamo.request.plane}, {@code
 * dynamo.request.http2.*}.
 *
 * @param planes those on which workers serve and those that callers prefer, in order; at least one
 * @param http2 the listener of {@link RequestPlane#HTTP2}
 */
public record RequestSettings(List<RequestPlane> planes, Http2Settings http2) {
  /**
   * The HTTP/2 listener of workers.
   *
   * @param host IP literal to bind and to advertise
   * @param port 0 lets the system choose
   * @param rootPath precedes the path of each endpoint; begins with a slash and does not end with
   *     one
   */
  public record Http2Settings(String host, int port, String rootPath) {}

  public RequestSettings {
    planes = List.copyOf(planes);
  }

  /** Whether workers serve on {@code plane}. */
  public boolean has(RequestPlane plane) {
    return planes.contains(plane);
  }
}
