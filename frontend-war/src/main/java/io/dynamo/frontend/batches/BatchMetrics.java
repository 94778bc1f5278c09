package io.dynamo.frontend.batches;

import io.dynamo.metrics.MetricName;

/** Names of the metrics of batches. */
public final class BatchMetrics {
  public static final MetricName LINES =
      new MetricName(
          "dynamo_frontend_batch_lines_total", "Lines of batches that have a result, by outcome");
  public static final MetricName RETRIES =
      new MetricName(
          "dynamo_frontend_batch_retries_total",
          "Requests of batches that were refused or failed and are sent again");
  public static final MetricName RUNNING =
      new MetricName("dynamo_frontend_batches_running", "Batches that this frontend runs");

  private BatchMetrics() {}
}
