package io.dynamo.config.plane;

import java.time.Duration;

/**
 * How long the TCP request plane waits. Keys: {@code dynamo.request.tcp.*}.
 *
 * @param acknowledgement from sending a request; also from the first byte of a frame to its last
 * @param connect for a connection, to a worker and home
 * @param callHome at most from acknowledgement to the worker's call
 * @param prologue at most from the worker's call to the prologue of the answer
 * @param inactivity between two items of a request that is a stream, on either side; zero waits for
 *     ever
 * @param writeStall how long a requester may take nothing of an answer that is there
 */
public record TcpTimeouts(
    Duration acknowledgement,
    Duration connect,
    Duration callHome,
    Duration prologue,
    Duration inactivity,
    Duration writeStall) {}
