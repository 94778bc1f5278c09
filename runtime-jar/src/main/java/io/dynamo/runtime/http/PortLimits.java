package io.dynamo.runtime.http;

import io.dynamo.config.ServerSettings;
import io.dynamo.config.frontend.FrontendSettings;
import java.time.Duration;

/**
 * The limits that the container itself enforces on the HTTP port.
 *
 * @param readSeconds that one read may wait, of a TLS handshake or of a request
 * @param writeSeconds that one write of an answer may wait
 * @param maxConnections held open; more are closed at once
 */
record PortLimits(long readSeconds, long writeSeconds, int maxConnections) {
  /** The limits in {@code config/http.xml}. */
  static final PortLimits SHIPPED = new PortLimits(30, 30, 16384);

  static PortLimits of(ServerSettings server, FrontendSettings frontend) {
    return new PortLimits(
        Math.min(SHIPPED.readSeconds, seconds(frontend.uploadTimeout())),
        seconds(frontend.writeStall()),
        server.httpMaxConnections());
  }

  /** Whole seconds are what the container counts in, and 0 would be for ever. */
  private static long seconds(Duration limit) {
    return Math.max(1, limit.plusMillis(999).toSeconds());
  }

  boolean areAsShipped() {
    return equals(SHIPPED);
  }

  /** The elements that say so, under the ids of {@code config/http.xml}. */
  String xml() {
    return """
          <httpOptions id="dynamoHttp" readTimeout="%ds" writeTimeout="%ds"/>
          <tcpOptions id="dynamoTcp" inactivityTimeout="%ds" maxOpenConnections="%d"/>
        """
        .formatted(readSeconds, writeSeconds, readSeconds, maxConnections);
  }
}
