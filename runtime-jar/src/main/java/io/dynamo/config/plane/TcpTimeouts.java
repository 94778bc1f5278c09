package io.dynamo.config.plane;

import java.time.Duration;

/**
 * The time limits of the TCP request plane. Keys: {@code dynamo.request.tcp.*}.
 *
 * @param acknowledgement from sending a request; also from the first byte of a frame to its last
 * @param connect for connecting to a worker, and for calling home
 * @param callHome upper limit from acknowledgement to the worker's call
 * @param prologue upper limit from the worker's call to the prologue of the answer
 * @param inactivity between two items of a streamed request, on either side; zero waits for ever
 * @param writeStall how long a requester may read nothing of an available answer
 */
public record TcpTimeouts(
    Duration acknowledgement,
    Duration connect,
    Duration callHome,
    Duration prologue,
    Duration inactivity,
    Duration writeStall) {}
