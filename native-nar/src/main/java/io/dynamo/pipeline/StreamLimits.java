package io.dynamo.pipeline;

import java.time.Duration;

/**
 * The bounds that a worker sets for a requester on one call-home connection.
 *
 * @param maxFrameBytes the most bytes of one frame
 * @param handshake the longest time from accept to the first whole frame
 * @param inactivity the longest time between two frames of an input while the listener is not
 *     paused; zero for no limit
 */
public record StreamLimits(int maxFrameBytes, Duration handshake, Duration inactivity) {}
