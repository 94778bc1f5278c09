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
          "dynamo_request_plane_inflight_requests",
          "Currently in-flight requests at AddressedPushRouter");
  public static final MetricName QUEUE_SECONDS =
      MetricName.histogram(
          "dynamo_request_plane_queue_seconds",
          "Time from generate() entry to send_request() (seconds)",
          Buckets.TRANSIT);
  public static final MetricName SEND_SECONDS =
      MetricName.histogram(
          "dynamo_request_plane_send_seconds",
          "Time for send_request() to complete (seconds)",
          Buckets.TRANSIT);
  public static final MetricName ROUNDTRIP_TTFT_SECONDS =
      MetricName.histogram(
          "dynamo_request_plane_roundtrip_ttft_seconds",
          "Time from send_request() to first response item (seconds)",
          0.001,
          0.005,
          0.01,
          0.025,
          0.05,
          0.1,
          0.25,
          0.5,
          1,
          2.5,
          5);
  public static final MetricName POOL_ACTIVE =
      new MetricName(
          "dynamo_work_handler_pool_active_tasks",
          "Current number of active worker-pool tasks (permits in use)");
  public static final MetricName POOL_CAPACITY =
      new MetricName(
          "dynamo_work_handler_pool_capacity", "Configured worker-pool capacity (total permits)");
  public static final MetricName QUEUE_DEPTH =
      new MetricName(
          "dynamo_work_handler_queue_depth", "Requests that wait in a worker for their turn");
  public static final MetricName QUEUE_CAPACITY =
      new MetricName(
          "dynamo_work_handler_queue_capacity", "Requests that wait in a worker at most");
  public static final MetricName PERMIT_WAIT_SECONDS =
      MetricName.histogram(
          "dynamo_work_handler_permit_wait_seconds",
          "Time spent waiting for a worker-pool permit (seconds)",
          0.0001,
          0.001,
          0.01,
          0.05,
          0.1,
          0.5,
          1,
          5,
          10,
          30,
          60);
  public static final MetricName ENGINE_REQUEST =
      new MetricName(
          "dynamo_engine_request",
          "Current number of requests being handled by the engine (--engine-request-limit)");
  public static final MetricName REQUEST_QUEUE =
      new MetricName(
          "dynamo_request_queue",
          "Current number of requests queued in Dynamo not yet in the engine"
              + " (--dynamo-request-queue-limit)");
  public static final MetricName CONNECTIONS_REFUSED =
      new MetricName(
          "dynamo_transport_tcp_connections_refused_total",
          "Connections closed at once because a listener had too many");
  public static final MetricName REJECTED =
      new MetricName(
          "dynamo_rejection_request_total",
          "Requests rejected because the worker is at capacity (engine in-flight limit and Dynamo"
              + " queue both full)");

  private TransportMetrics() {}
}
