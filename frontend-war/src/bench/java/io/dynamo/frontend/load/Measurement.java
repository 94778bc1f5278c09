package io.dynamo.frontend.load;

import java.util.Map;

/**
 * The use of one process while it streamed, per token.
 *
 * @param phase "cold" from its start, or "warm"
 * @param bytes of its heap; 0 where it is no JVM
 * @param threads microseconds of CPU time by groups of threads
 */
record Measurement(
    String phase,
    double cpuMicros,
    double tokensPerSecond,
    double gapMedianMillis,
    double gapTailMillis,
    double bytes,
    long residentMegabytes,
    int failed,
    Map<String, Double> threads) {}
