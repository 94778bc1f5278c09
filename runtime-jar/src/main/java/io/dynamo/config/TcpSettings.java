package io.dynamo.config;

import io.dynamo.net.PayloadFormat;
import java.time.Duration;

/**
 * The TCP request plane. Keys: {@code dynamo.request.tcp.*}, {@code dynamo.request.codec}.
 *
 * @param host IP literal to bind and to advertise
 * @param requestPort of the worker's listener; 0 lets the system choose
 * @param responsePort of the frontend's call-home listener; 0 lets the system choose
 * @param maxFrameBytes of a whole request frame
 * @param requestTimeout from send to acknowledgement
 * @param callHomeTimeout from acknowledgement to the prologue of the answer
 * @param poolSize connections per worker address
 * @param streamBuffer items buffered per stream
 * @param maxConcurrentRequests requests that a worker runs at once; more are refused
 * @param format what our workers advertise
 */
public record TcpSettings(
    String host,
    int requestPort,
    int responsePort,
    int maxFrameBytes,
    Duration requestTimeout,
    Duration connectTimeout,
    Duration callHomeTimeout,
    int poolSize,
    int streamBuffer,
    int maxConcurrentRequests,
    PayloadFormat format) {}
