package io.dynamo.metrics;

/** The metrics of each served endpoint: Dynamo's names, with Dynamo's meaning. */
public final class EndpointMetrics {
  public static final MetricName REQUESTS =
      new MetricName(
          "dynamo_component_requests_total", "Total number of requests processed by work handler");
  public static final MetricName INFLIGHT =
      new MetricName(
          "dynamo_component_inflight_requests",
          "Number of requests currently being processed by work handler");
  public static final MetricName REQUEST_BYTES =
      new MetricName(
          "dynamo_component_request_bytes_total",
          "Total number of bytes received in requests by work handler");
  public static final MetricName RESPONSE_BYTES =
      new MetricName(
          "dynamo_component_response_bytes_total",
          "Total number of bytes sent in responses by work handler");
  public static final MetricName CANCELLATIONS =
      new MetricName(
          "dynamo_component_cancellation_total",
          "Total number of requests cancelled by work handler");
  public static final MetricName ERRORS =
      new MetricName(
          "dynamo_component_errors_total", "Total number of errors in work handler processing");
  public static final MetricName REQUEST_DURATION =
      MetricName.histogram(
          "dynamo_component_request_duration_seconds",
          "Time spent processing requests by work handler",
          0.005,
          0.01,
          0.025,
          0.05,
          0.1,
          0.25,
          0.5,
          1,
          2.5,
          5,
          10,
          20,
          30,
          60,
          120,
          300,
          600);
  public static final MetricName NETWORK_TRANSIT =
      MetricName.histogram(
          "dynamo_work_handler_network_transit_seconds",
          "Frontend-to-backend network transit time (cross-process wall-clock, seconds)",
          Buckets.TRANSIT);
  public static final MetricName TIME_TO_FIRST_RESPONSE =
      MetricName.histogram(
          "dynamo_work_handler_time_to_first_response_seconds",
          "Backend processing time from handle_payload entry to prologue sent (seconds)",
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
          5,
          10,
          30,
          60);
  public static final MetricName UPTIME =
      new MetricName(
          "dynamo_component_uptime_seconds", "Total uptime of the DistributedRuntime in seconds");

  private EndpointMetrics() {}

  /**
   * Returns the value of a name label, by Dynamo's rule: characters outside {@code [A-Za-z0-9_]}
   * become {@code _}, a leading digit is preceded by {@code _}, a leading {@code __} is removed.
   */
  public static String labelValue(String name) {
    var value = name.replaceAll("[^A-Za-z0-9_]", "_");
    if (!value.isEmpty() && Character.isDigit(value.charAt(0))) {
      value = "_" + value;
    }
    return value.startsWith("__") ? value.substring(2) : value;
  }
}
