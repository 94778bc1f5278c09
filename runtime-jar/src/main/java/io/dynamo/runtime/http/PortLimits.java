package io.dynamo.runtime.http;

import io.dynamo.config.ServerSettings;
import io.dynamo.config.frontend.FrontendSettings;
import java.time.Duration;

/**
 * The limits that the container itself enforces on the HTTP port.
 *
 * @param readSeconds limit of one read, of a TLS handshake or of a request
 * @param writeSeconds limit of one write of an answer
 * @param maxConnections open connections; further ones are closed at once
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

  /**
   * Returns a limit in whole seconds, the container's unit, at least 1, since 0 would be for ever.
   */
  private static long seconds(Duration limit) {
    return Math.max(1, limit.plusMillis(999).toSeconds());
  }

  boolean areAsShipped() {
    return equals(SHIPPED);
  }

  /** Returns the elements with these limits, under the ids of {@code config/http.xml}. */
  String xml() {
    return """
          <httpOptions id="dynamoHttp" readTimeout="%ds" writeTimeout="%ds"/>
          <tcpOptions id="dynamoTcp" inactivityTimeout="%ds" maxOpenConnections="%d"/>
        """
        .formatted(readSeconds, writeSeconds, readSeconds, maxConnections);
  }
}
