package io.dynamo.router.queue;

import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.RouterMetrics;

/** Queue metrics of one class of a model's requests, with Dynamo's names and labels. */
public final class QueueMeters {
  private final Metrics.Level requests;
  private final Metrics.Level promptTokens;
  private final Metrics.Level cachedTokens;
  final Metrics.Counter received;
  final Metrics.Counter full;
  final Metrics.Counter manyTokens;
  final Metrics.Counter manyCachedTokens;
  private final Metrics.Counter late;
  private final Metrics.Counter due;

  public QueueMeters(Metrics metrics, String model, String policyClass) {
    var labels =
        new Label[] {
          new Label("model", model),
          new Label("worker_type", "decode"), // Dynamo's label for a worker that does everything
          new Label("policy_class", policyClass)
        };
    requests = metrics.level(RouterMetrics.QUEUE_REQUESTS, labels);
    promptTokens = metrics.level(RouterMetrics.QUEUE_ISL_TOKENS, labels);
    cachedTokens = metrics.level(RouterMetrics.QUEUE_CACHED_TOKENS, labels);
    received = metrics.counter(RouterMetrics.ADMISSION_RECEIVED, labels);
    full = metrics.counter(RouterMetrics.QUEUE_BACKPRESSURE, with(labels, "request_limit"));
    manyTokens =
        metrics.counter(RouterMetrics.QUEUE_BACKPRESSURE, with(labels, "raw_isl_token_limit"));
    manyCachedTokens =
        metrics.counter(RouterMetrics.QUEUE_BACKPRESSURE, with(labels, "cached_token_limit"));
    late = metrics.counter(RouterMetrics.QUEUE_BACKPRESSURE, with(labels, "timeout"));
    due = metrics.counter(RouterMetrics.ADMISSION_REJECTED, with(labels, "due_time_passed"));
  }

  private static Label[] with(Label[] labels, String reason) {
    return new Label[] {labels[0], labels[1], labels[2], new Label("reason", reason)};
  }

  void entered(long prompt, long cached) {
    requests.add(1);
    promptTokens.add(prompt);
    cachedTokens.add(cached);
  }

  void left(long prompt, long cached) {
    requests.add(-1);
    promptTokens.add(-prompt);
    cachedTokens.add(-cached);
  }

  /** Counts a request that has waited in vain. */
  void late() {
    late.increment();
    due.increment();
  }
}
