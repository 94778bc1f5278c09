package io.dynamo.config.plane;

/** The transports of requests. Key: {@code dynamo.request.plane}. */
public enum RequestPlane {
  /** A worker's listener; the answer comes on a connection that the worker dials. */
  TCP,
  /** A subject of a NATS server; the answer comes as with {@link #TCP}. */
  NATS,
  /** A worker's HTTP/2 listener; the answer comes on the request's own stream. */
  HTTP2
}
