package io.dynamo.frontend.dispatch;

import io.dynamo.discovery.InstanceId;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.MetricName;
import io.dynamo.metrics.Metrics;
import java.lang.System.Logger.Level;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Counts and times migrations of generations. */
public final class DispatchMetrics {
  public static final MetricName MIGRATIONS =
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

  static final MetricName UNFINISHED =
      new MetricName(
          "dynamo_frontend_model_unfinished_streams_total",
          "Streams that a worker ended without a finish reason; their clients got the text so far");

  private static final System.Logger LOG = System.getLogger(DispatchMetrics.class.getName());
  private static final int MOST_NAMED = 1024; // limit of workers logged; others are counted only

  /** The outcome of a migration. */
  enum Outcome {
    SUCCESS,
    FAILURE,
    CANCELLED
  }

  private final Metrics metrics;
  private final Set<InstanceId> named = ConcurrentHashMap.newKeySet();

  DispatchMetrics(Metrics metrics) {
    this.metrics = metrics;
  }

  /**
   * Counts a migration.
   *
   * @param ongoing whether tokens had been delivered already
   */
  void migrated(String model, boolean ongoing) {
    metrics.counter(MIGRATIONS, new Label("model", model), type(ongoing)).increment();
  }

  /** Records the end of a migration, {@code nanos} after the loss. */
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

  /** Counts a stream that a worker ended without a finish reason. Logged once for each worker. */
  void unfinished(String model, InstanceId worker) {
    metrics.counter(UNFINISHED, new Label("model", model)).increment();
    if (named.size() < MOST_NAMED && named.add(worker)) {
      LOG.log(
          Level.WARNING,
          "worker {0} of model {1} ends streams without a finish reason; clients get the text so"
              + " far and finish_reason null, counted as {2}; see to its engine",
          worker.hex(),
          model,
          UNFINISHED.name());
    }
  }

  /** Counts a generation that did not migrate because of its length. */
  void tooLong(String model) {
    metrics.counter(TOO_LONG, new Label("model", model)).increment();
  }
}
