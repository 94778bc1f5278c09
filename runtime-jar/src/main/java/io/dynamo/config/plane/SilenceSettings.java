package io.dynamo.config.plane;

import java.time.Duration;

/**
 * How long the TCP request plane waits for a silent worker. Keys: {@code dynamo.request.tcp.*}.
 *
 * @param silence time after which a worker is probed; zero never probes
 * @param probe how long the answer to a probe may take
 * @param betweenItems time between two items of an answer that has begun, while it is read; zero
 *     waits for ever
 * @param firstItem time from the prologue to the first item; zero waits for ever
 * @param leastStart the least time that a worker is given to call home, and then to begin
 */
public record SilenceSettings(
    Duration silence,
    Duration probe,
    Duration betweenItems,
    Duration firstItem,
    Duration leastStart) {}
