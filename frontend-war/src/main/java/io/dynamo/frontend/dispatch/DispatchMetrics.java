package io.dynamo.frontend.dispatch;

import io.dynamo.metrics.Label;
import io.dynamo.metrics.MetricName;
import io.dynamo.metrics.Metrics;
import java.util.Locale;

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

  static final MetricName MIGRATION_DURATION =
      MetricName.histogram(
          "dynamo_frontend_model_migration_duration_seconds",
          "From the loss of a leg to the next one's first item, or to its own end",
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
          40,
          60);

  /** How a migration ended. */
  enum Outcome {
    SUCCESS,
    FAILURE,
    CANCELLED
  }

  private final Metrics metrics;

  DispatchMetrics(Metrics metrics) {
    this.metrics = metrics;
  }

  /**
   * @param ongoing whether tokens had been delivered already
   */
  void migrated(String model, boolean ongoing) {
    metrics.counter(MIGRATIONS, new Label("model", model), type(ongoing)).increment();
  }

  /** A migration has ended, {@code nanos} after the loss. */
  void migrationEnded(String model, boolean ongoing, Outcome outcome, long nanos) {
    metrics
        .timer(
            MIGRATION_DURATION,
            new Label("model", model),
            type(ongoing),
            new Label("outcome", outcome.name().toLowerCase(Locale.ROOT)))
        .record(nanos);
  }

  private static Label type(boolean ongoing) {
    return new Label("migration_type", ongoing ? "ongoing_request" : "new_request");
  }

  /** A generation did not move because of its length. */
  void tooLong(String model) {
    metrics.counter(TOO_LONG, new Label("model", model)).increment();
  }
}
