package io.dynamo.config;

import java.time.Duration;

/**
 * How long the TCP request plane waits. Keys: {@code dynamo.request.tcp.*}.
 *
 * @param acknowledgement from sending a request; also from the first byte of a frame to its last
 * @param connect for a connection, to a worker and home
 * @param callHome from acknowledgement to the worker's call
 * @param prologue from the worker's call to the prologue of the answer
 * @param inactivity between two items while some are asked for; zero waits for ever
 * @param writeStall how long a requester may take nothing of an answer that is there
 */
public record TcpTimeouts(
    Duration acknowledgement,
    Duration connect,
    Duration callHome,
    Duration prologue,
    Duration inactivity,
    Duration writeStall) {}
