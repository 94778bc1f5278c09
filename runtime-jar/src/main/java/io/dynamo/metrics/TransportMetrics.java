package io.dynamo.metrics;

/** Names of the request plane's metrics: Dynamo's, with Dynamo's meaning. */
public final class TransportMetrics {
  public static final MetricName TCP_BYTES_SENT =
      new MetricName(
          "dynamo_transport_tcp_bytes_sent_total", "Total bytes sent by TCP request client");
  public static final MetricName TCP_BYTES_RECEIVED =
      new MetricName(
          "dynamo_transport_tcp_bytes_received_total",
          "Total bytes received by TCP request client");
  public static final MetricName TCP_ERRORS =
      new MetricName(
          "dynamo_transport_tcp_errors_total",
          "Total TCP request errors (send failure or timeout)");
  public static final MetricName INFLIGHT_REQUESTS =
      new MetricName(
          "dynamo_request_plane_inflight_requests", "Requests sent whose answer has not ended");
  public static final MetricName SEND_SECONDS =
      new MetricName(
          "dynamo_request_plane_send_seconds", "From sending a request to its acknowledgement");
  public static final MetricName ROUNDTRIP_TTFT_SECONDS =
      new MetricName(
          "dynamo_request_plane_roundtrip_ttft_seconds",
          "From sending a request to the first item of its answer");
  public static final MetricName POOL_ACTIVE =
      new MetricName(
          "dynamo_work_handler_pool_active_tasks", "Requests that a worker is running now");
  public static final MetricName POOL_CAPACITY =
      new MetricName(
          "dynamo_work_handler_pool_capacity", "Requests that a worker runs at once at most");
  public static final MetricName QUEUE_DEPTH =
      new MetricName(
          "dynamo_work_handler_queue_depth", "Requests that wait in a worker for their turn");
  public static final MetricName QUEUE_CAPACITY =
      new MetricName(
          "dynamo_work_handler_queue_capacity", "Requests that wait in a worker at most");
  public static final MetricName CONNECTIONS_REFUSED =
      new MetricName(
          "dynamo_transport_tcp_connections_refused_total",
          "Connections closed at once because a listener had too many");
  public static final MetricName REJECTED =
      new MetricName(
          "dynamo_rejection_request_total", "Requests refused because the worker was at capacity");

  private TransportMetrics() {}
}
