package io.dynamo.frontend.dispatch;

import io.dynamo.metrics.Label;
import io.dynamo.metrics.MetricName;
import io.dynamo.metrics.Metrics;

/** What dispatch counts. */
final class DispatchMetrics {
  static final MetricName MIGRATIONS =
      new MetricName(
          "dynamo_frontend_model_migration_total",
          "Legs lost and taken up again by another worker, by when they were lost");
  static final MetricName TOO_LONG =
      new MetricName(
          "dynamo_frontend_model_migration_max_seq_len_exceeded_total",
          "Generations that were lost because they were too long to move");

  private final Metrics metrics;

  DispatchMetrics(Metrics metrics) {
    this.metrics = metrics;
  }

  /**
   * @param ongoing whether tokens had been delivered already
   */
  void migrated(String model, boolean ongoing) {
    metrics
        .counter(
            MIGRATIONS,
            new Label("model", model),
            new Label("migration_type", ongoing ? "ongoing_request" : "new_request"))
        .increment();
  }

  /** A generation did not move because of its length. */
  void tooLong(String model) {
    metrics.counter(TOO_LONG, new Label("model", model)).increment();
  }
}
