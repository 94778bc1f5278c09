package io.dynamo.config.plane;

import java.time.Duration;

/**
 * How long the TCP request plane bears a worker that says nothing. Keys: {@code
 * dynamo.request.tcp.*}.
 *
 * @param silence after which a worker is asked for a sign of life; zero never asks
 * @param probe how long it may take to give one
 * @param betweenItems of an answer that has begun, while it is read; zero waits for ever
 * @param firstItem from the prologue; zero waits for ever
 * @param leastStart the least that a worker is given to call home, and then to begin
 */
public record SilenceSettings(
    Duration silence,
    Duration probe,
    Duration betweenItems,
    Duration firstItem,
    Duration leastStart) {}
