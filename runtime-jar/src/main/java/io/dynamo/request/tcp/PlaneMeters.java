package io.dynamo.request.tcp;

import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.TransportMetrics;

/** The requester's meters, looked up once. */
record PlaneMeters(
    Metrics.Counter bytesSent,
    Metrics.Counter bytesReceived,
    Metrics.Counter errors,
    Metrics.Level inFlight,
    Metrics.Timer queue,
    Metrics.Timer send,
    Metrics.Timer firstItem) {
  static PlaneMeters of(Metrics metrics) {
    return new PlaneMeters(
        metrics.counter(TransportMetrics.TCP_BYTES_SENT),
        metrics.counter(TransportMetrics.TCP_BYTES_RECEIVED),
        metrics.counter(TransportMetrics.TCP_ERRORS),
        metrics.level(TransportMetrics.INFLIGHT_REQUESTS),
        metrics.timer(TransportMetrics.QUEUE_SECONDS),
        metrics.timer(TransportMetrics.SEND_SECONDS),
        metrics.timer(TransportMetrics.ROUNDTRIP_TTFT_SECONDS));
  }
}
