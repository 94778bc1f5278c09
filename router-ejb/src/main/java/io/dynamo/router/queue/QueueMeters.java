package io.dynamo.router.queue;

import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.RouterMetrics;

/** What a queue counts. */
public final class QueueMeters {
  private final Metrics.Level requests;
  private final Metrics.Level promptTokens;
  private final Metrics.Level cachedTokens;
  final Metrics.Counter full;
  final Metrics.Counter late;

  public QueueMeters(Metrics metrics, Label endpoint) {
    requests = metrics.level(RouterMetrics.QUEUE_REQUESTS, endpoint);
    promptTokens = metrics.level(RouterMetrics.QUEUE_ISL_TOKENS, endpoint);
    cachedTokens = metrics.level(RouterMetrics.QUEUE_CACHED_TOKENS, endpoint);
    full =
        metrics.counter(
            RouterMetrics.QUEUE_BACKPRESSURE, endpoint, new Label("reason", "request_limit"));
    late =
        metrics.counter(RouterMetrics.QUEUE_BACKPRESSURE, endpoint, new Label("reason", "timeout"));
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
}
