package io.dynamo.frontend.record;

import io.dynamo.metrics.MetricName;

/** Names of the metrics of records of requests. */
public final class RecordMetrics {
  public static final MetricName WRITTEN =
      new MetricName(
          "dynamo_frontend_request_trace_records_total",
          "Records of requests that were written to a sink");
  public static final MetricName LOST =
      new MetricName(
          "dynamo_frontend_request_trace_lost_total",
          "Records of requests that were lost because a sink could not be written");
  public static final MetricName QUEUE_LOST =
      new MetricName(
          "dynamo_frontend_request_trace_dropped_total",
          "Records of requests that were lost because too many waited to be written");

  public static final MetricName REPORTS_REFUSED =
      new MetricName(
          "dynamo_frontend_request_trace_tool_reports_refused_total",
          "Reports of tools that were malformed, or came faster than they are read");

  private RecordMetrics() {}
}
