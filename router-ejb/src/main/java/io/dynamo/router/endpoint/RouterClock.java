package io.dynamo.router.endpoint;

import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;

/**
 * The time and the randomness of a router, which tests replace.
 *
 * @param nanos as {@link System#nanoTime()}
 * @param wallNanos nanoseconds since 1970, which order the changes of several routers
 * @param random uniform in [0, 1); safe for concurrent use
 */
public record RouterClock(LongSupplier nanos, LongSupplier wallNanos, DoubleSupplier random) {}
