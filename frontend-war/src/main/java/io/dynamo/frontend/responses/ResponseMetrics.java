package io.dynamo.frontend.responses;

import io.dynamo.metrics.MetricName;

/** Names of the metrics of stored responses. */
public final class ResponseMetrics {
  public static final MetricName WRITTEN =
      new MetricName(
          "dynamo_frontend_responses_written_total", "Responses that were written to the database");
  public static final MetricName LOST =
      new MetricName(
          "dynamo_frontend_responses_lost_total",
          "Responses that were to be stored and could not, for want of room or by a refusal of the"
              + " database");
  public static final MetricName WAITING =
      new MetricName(
          "dynamo_frontend_responses_waiting", "Responses that wait to be written to the database");

  private ResponseMetrics() {}
}
