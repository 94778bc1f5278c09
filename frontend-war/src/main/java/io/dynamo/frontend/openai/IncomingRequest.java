package io.dynamo.frontend.openai;

import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The headers, addresses and unread body of an HTTP request.
 *
 * @param contentBytes {@code Content-Length}, negative when unknown
 * @param headers by lower-case name; the first value of each
 * @param local our end of the TCP connection
 * @param remote the client's
 * @param body read once, by the thread that serves the request
 * @param patience how long the client waits for its answer; null when it did not say
 */
record IncomingRequest(
    @Nullable String contentType,
    long contentBytes,
    Map<String, String> headers,
    InetSocketAddress local,
    InetSocketAddress remote,
    InputStream body,
    @Nullable Duration patience) {
  /** Either end of a request that came without a connection. */
  static final InetSocketAddress NO_CONNECTION =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

  IncomingRequest {
    headers = Map.copyOf(headers);
  }

  /** A request of a client that did not say how long it waits. */
  IncomingRequest(
      @Nullable String contentType,
      long contentBytes,
      Map<String, String> headers,
      InetSocketAddress local,
      InetSocketAddress remote,
      InputStream body) {
    this(contentType, contentBytes, headers, local, remote, body, null);
  }
}
