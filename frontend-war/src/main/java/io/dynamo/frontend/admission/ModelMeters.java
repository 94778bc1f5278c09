package io.dynamo.frontend.admission;

import io.dynamo.frontend.FrontendMetrics;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;

/** The meters of one model, looked up once. */
final class ModelMeters {
  final Label model;
  final Metrics.Level inflight;
  final Metrics.Level active;
  final Metrics.Level queued;
  final Metrics.Timer duration;
  final Metrics.Timer firstToken;
  final Metrics.Timer interToken;
  final Metrics.Counter outputTokens;
  final Metrics.Timer inputSequence;
  final Metrics.Timer outputSequence;
  final Metrics.Timer cachedTokens;

  ModelMeters(Metrics metrics, String name) {
    model = new Label("model", name);
    inflight = metrics.level(FrontendMetrics.INFLIGHT, model);
    active = metrics.level(FrontendMetrics.ACTIVE, model);
    queued = metrics.level(FrontendMetrics.QUEUED, model);
    duration = metrics.timer(FrontendMetrics.REQUEST_DURATION, model);
    firstToken = metrics.timer(FrontendMetrics.TIME_TO_FIRST_TOKEN, model);
    interToken = metrics.timer(FrontendMetrics.INTER_TOKEN_LATENCY, model);
    outputTokens = metrics.counter(FrontendMetrics.OUTPUT_TOKENS, model);
    inputSequence = metrics.timer(FrontendMetrics.INPUT_SEQUENCE, model);
    outputSequence = metrics.timer(FrontendMetrics.OUTPUT_SEQUENCE, model);
    cachedTokens = metrics.timer(FrontendMetrics.CACHED_TOKENS, model);
  }
}
