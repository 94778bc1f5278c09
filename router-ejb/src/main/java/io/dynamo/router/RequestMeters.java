package io.dynamo.router;

import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.RouterMetrics;

/** What becomes of requests, as the router sees it. */
final class RequestMeters {
  private static final double NANOS_PER_SECOND = 1e9;

  final Metrics.Counter started;
  private final Metrics.Counter ended;
  private final Metrics.Timer firstToken;
  private final Metrics.Timer interToken;
  private final Metrics.Timer inputTokens;
  private final Metrics.Timer outputTokens;
  private final Metrics.Timer hitRate;

  /**
   * @param labels of all of them
   */
  RequestMeters(Metrics metrics, Label... labels) {
    started = metrics.counter(RouterMetrics.REQUESTS_STARTED, labels);
    ended = metrics.counter(RouterMetrics.REQUESTS, labels);
    firstToken = metrics.timer(RouterMetrics.TIME_TO_FIRST_TOKEN, labels);
    interToken = metrics.timer(RouterMetrics.INTER_TOKEN_LATENCY, labels);
    inputTokens = metrics.timer(RouterMetrics.INPUT_TOKENS, labels);
    outputTokens = metrics.timer(RouterMetrics.OUTPUT_TOKENS, labels);
    hitRate = metrics.timer(RouterMetrics.KV_HIT_RATE, labels);
  }

  void placed(int promptTokens) {
    inputTokens.record(promptTokens, 1);
  }

  /**
   * @param blocks of the prompt, complete ones; at least 1
   */
  void hit(int overlapBlocks, int blocks) {
    hitRate.record((double) overlapBlocks / blocks, 1);
  }

  void firstToken(long nanos) {
    firstToken.record(nanos);
  }

  void nextTokens(long nanos, int tokens) {
    interToken.record(nanos / NANOS_PER_SECOND / tokens, tokens);
  }

  void ended(long generated) {
    ended.increment();
    outputTokens.record(generated, 1);
  }
}
