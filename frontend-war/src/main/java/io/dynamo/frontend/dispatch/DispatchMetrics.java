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
}
