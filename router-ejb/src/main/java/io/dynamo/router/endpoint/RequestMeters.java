package io.dynamo.router.endpoint;

import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.RouterMetrics;

/** Metrics of the requests that one endpoint's router places. */
final class RequestMeters {
  private static final double UNIT = 1e9; // a timer reports its nanoseconds in seconds

  private final Metrics.Counter ended;
  private final Metrics.Timer firstToken;
  private final Metrics.Timer interToken;
  private final Metrics.Timer inputTokens;
  private final Metrics.Timer outputTokens;
  private final Metrics.Timer hitRate;

  RequestMeters(Metrics metrics, RouterLabels labels, String model) {
    ended = metrics.counter(RouterMetrics.REQUESTS, labels.of());
    firstToken = metrics.timer(RouterMetrics.TIME_TO_FIRST_TOKEN, labels.of());
    interToken = metrics.timer(RouterMetrics.INTER_TOKEN_LATENCY, labels.of());
    inputTokens = metrics.timer(RouterMetrics.INPUT_TOKENS, labels.ofModel(model));
    outputTokens = metrics.timer(RouterMetrics.OUTPUT_TOKENS, labels.of());
    hitRate = metrics.timer(RouterMetrics.KV_HIT_RATE, labels.of());
  }

  void placed(int promptTokens) {
    inputTokens.record((long) (promptTokens * UNIT));
  }

  /**
   * Records the share of the prompt that the chosen rank has cached.
   *
   * @param blocks complete blocks of the prompt; at least 1
   */
  void hit(int overlapBlocks, int blocks) {
    hitRate.record((long) (overlapBlocks * UNIT / blocks));
  }

  void firstToken(long nanos) {
    firstToken.record(nanos);
  }

  void nextTokens(long nanos, int tokens) {
    interToken.record(nanos / tokens);
  }

  void ended(long generated) {
    ended.increment();
    outputTokens.record((long) (generated * UNIT));
  }
}
