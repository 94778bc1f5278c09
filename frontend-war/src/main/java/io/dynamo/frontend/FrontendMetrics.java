package io.dynamo.frontend;

import io.dynamo.metrics.MetricName;

/** The frontend's metrics, by Dynamo's names. */
public final class FrontendMetrics {
  public static final MetricName REQUESTS_STARTED =
      new MetricName("dynamo_frontend_requests_started_total", "Requests that named a model");
  public static final MetricName REQUESTS =
      new MetricName("dynamo_frontend_requests_total", "Requests by how they ended, each once");
  public static final MetricName INFLIGHT =
      new MetricName("dynamo_frontend_inflight_requests", "Requests under way");
  public static final MetricName QUEUED =
      new MetricName("dynamo_frontend_queued_requests", "Requests without their first token");
  public static final MetricName DISCONNECTED_CLIENTS =
      new MetricName(
          "dynamo_frontend_disconnected_clients", "Clients that left before their answer was done");
  public static final MetricName CANCELLATIONS =
      new MetricName(
          "dynamo_frontend_model_cancellation_total", "Requests cancelled because the client left");
  public static final MetricName REJECTIONS =
      new MetricName("dynamo_frontend_model_rejection_total", "Requests refused for want of room");
  public static final MetricName ADMISSION_WAITING =
      new MetricName(
          "dynamo_frontend_admission_waiting_requests", "Requests that wait for their turn");
  public static final MetricName ADMISSION_WAIT =
      new MetricName(
          "dynamo_frontend_admission_wait_seconds", "How long requests waited for their turn");
  public static final MetricName ADMISSION_REFUSED =
      new MetricName("dynamo_frontend_admission_refused_total", "Requests refused, by reason");
  public static final MetricName REQUEST_DURATION =
      new MetricName("dynamo_frontend_request_duration_seconds", "From arrival to the last byte");
  public static final MetricName TIME_TO_FIRST_TOKEN =
      new MetricName(
          "dynamo_frontend_time_to_first_token_seconds", "From arrival to the first token");
  public static final MetricName INTER_TOKEN_LATENCY =
      new MetricName("dynamo_frontend_inter_token_latency_seconds", "Between two tokens");
  public static final MetricName OUTPUT_TOKENS =
      new MetricName("dynamo_frontend_output_tokens_total", "Tokens generated");

  private FrontendMetrics() {}
}
