package io.dynamo.config.plane;

import io.dynamo.net.PayloadFormat;

/**
 * The settings of the TCP request plane. Keys: {@code dynamo.request.tcp.*}, {@code
 * dynamo.request.codec}.
 *
 * @param host IP literal to bind and to advertise
 * @param responseHost IP literal that the call-home listener binds and advertises
 * @param requestPort port of the worker's listener; 0 lets the system choose
 * @param responsePort port of the frontend's call-home listener; 0 lets the system choose
 * @param maxFrameBytes size of a whole request frame, and of an item of an answer
 * @param maxUnsentBytes bytes of requests that wait to be written, to all workers together
 * @param maxConnections open connections per listener
 * @param pool the connections that are kept to workers
 * @param streamBuffer items buffered per stream
 * @param format the payload format that our workers advertise
 */
public record TcpSettings(
    String host,
    String responseHost,
    int requestPort,
    int responsePort,
    int maxFrameBytes,
    int maxUnsentBytes,
    int maxConnections,
    PoolSettings pool,
    int streamBuffer,
    PayloadFormat format,
    TcpTimeouts timeouts,
    SilenceSettings silence,
    AdmissionSettings admission,
    TlsSettings tls) {}
