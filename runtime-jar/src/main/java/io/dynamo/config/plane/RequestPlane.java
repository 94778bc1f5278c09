package io.dynamo.config.plane;

/**
 * The transports of requests; answers always travel over TCP. Key: {@code dynamo.request.plane}.
 */
public enum RequestPlane {
  TCP,
  NATS
}
