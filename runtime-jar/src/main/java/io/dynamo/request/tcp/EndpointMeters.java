package io.dynamo.request.tcp;

import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.metrics.EndpointMetrics;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import java.time.Instant;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/** The meters of one served endpoint, looked up once. Safe for concurrent use. */
final class EndpointMeters {
  /** The step at which a request failed, by Dynamo's names. */
  enum Failure {
    DESERIALIZATION("deserialization"),
    INVALID_MESSAGE("invalid_message"),
    RESPONSE_STREAM("response_stream"),
    GENERATE("generate"),
    SERIALIZATION("serialization"),
    PUBLISH_RESPONSE("publish_response");

    private final String label;

    Failure(String label) {
      this.label = label;
    }
  }

  private final Metrics metrics;
  private final Label[] labels;
  private final Metrics.Counter requests;
  private final Metrics.Level inflight;
  private final Metrics.Counter requestBytes;
  private final Metrics.Counter responseBytes;
  private final Metrics.Counter cancellations;
  private final Metrics.Timer duration;
  private final Metrics.Timer transit;
  private final Metrics.Timer firstResponse;

  EndpointMeters(Metrics metrics, EndpointId endpoint, InstanceId id) {
    this.metrics = metrics;
    labels =
        new Label[] {
          new Label("dynamo_namespace", EndpointMetrics.labelValue(endpoint.namespace())),
          new Label("dynamo_component", EndpointMetrics.labelValue(endpoint.component())),
          new Label("dynamo_endpoint", EndpointMetrics.labelValue(endpoint.name())),
          new Label("worker_id", id.hex())
        };
    requests = metrics.counter(EndpointMetrics.REQUESTS, labels);
    inflight = metrics.level(EndpointMetrics.INFLIGHT, labels);
    requestBytes = metrics.counter(EndpointMetrics.REQUEST_BYTES, labels);
    responseBytes = metrics.counter(EndpointMetrics.RESPONSE_BYTES, labels);
    cancellations = metrics.counter(EndpointMetrics.CANCELLATIONS, labels);
    duration = metrics.timer(EndpointMetrics.REQUEST_DURATION, labels);
    transit = metrics.timer(EndpointMetrics.NETWORK_TRANSIT);
    firstResponse = metrics.timer(EndpointMetrics.TIME_TO_FIRST_RESPONSE);
  }

  /**
   * Counts a request that starts.
   *
   * @param payloadBytes size of control message and body, as framed
   * @param sentUnixNanos the requester's wall-clock time of sending; 0 when unknown
   */
  void recordRequestStart(long payloadBytes, long sentUnixNanos) {
    requests.increment();
    inflight.add(1);
    requestBytes.add(payloadBytes);
    if (sentUnixNanos > 0) {
      var now = Instant.now();
      long nowNanos = TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano();
      transit.record(Math.max(0, nowNanos - sentUnixNanos)); // clocks of two hosts may disagree
    }
  }

  void prologueSent(long sinceBegunNanos) {
    firstResponse.record(sinceBegunNanos);
  }

  void recordSentBytes(long bytes) {
    responseBytes.add(bytes);
  }

  void cancelled() {
    cancellations.increment();
  }

  /**
   * Counts a failure. A kind of failure is published from its first occurrence on, as Dynamo does.
   */
  void failed(Failure failure) {
    var own = Arrays.copyOf(labels, labels.length + 1);
    own[labels.length] = new Label("error_type", failure.label);
    metrics.counter(EndpointMetrics.ERRORS, own).increment();
  }

  void ended(long sinceBegunNanos) {
    inflight.add(-1);
    duration.record(sinceBegunNanos);
  }
}
