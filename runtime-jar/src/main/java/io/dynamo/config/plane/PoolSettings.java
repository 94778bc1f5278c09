package io.dynamo.config.plane;

import java.time.Duration;

/**
 * The connections that a caller keeps to workers. Keys: {@code dynamo.request.tcp.pool-*}, {@code
 * dynamo.request.tcp.max-connecting}, {@code dynamo.request.tcp.warm-up}.
 *
 * @param size connections per worker address
 * @param idle how long a connection without requests is kept
 * @param maxConnecting connections that are being established at once, to all workers together
 * @param warmUp whether a connection is opened when an instance is found
 */
public record PoolSettings(int size, Duration idle, int maxConnecting, boolean warmUp) {}
