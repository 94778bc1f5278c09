package io.dynamo.config.frontend;

import java.time.Duration;

/**
 * The gRPC port, which shares host and TLS with the HTTP port. Keys: {@code dynamo.grpc.*}.
 *
 * @param enabled false: the port is closed
 * @param port 0 takes a free one
 * @param maxConnections open at once; further ones are closed
 * @param maxStreams calls of one connection at once
 * @param windowBytes that a connection, and each call, may send unread
 * @param keepAlive silence of a connection before it is probed
 * @param idle how long a connection without calls stays, and a stream without a request
 */
public record GrpcSettings(
    boolean enabled,
    int port,
    int maxConnections,
    int maxStreams,
    int windowBytes,
    Duration keepAlive,
    Duration idle) {}
