package io.dynamo.pipeline;

import java.time.Duration;

/**
 * The bounds that a worker sets for a requester on one call-home connection.
 *
 * @param maxFrameBytes of one frame
 * @param handshake from accept to the first whole frame
 * @param inactivity between two frames of an input while the listener reads on; zero waits for ever
 */
public record StreamLimits(int maxFrameBytes, Duration handshake, Duration inactivity) {}
