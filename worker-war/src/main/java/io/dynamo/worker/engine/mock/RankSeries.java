package io.dynamo.worker.engine.mock;

import io.dynamo.metrics.Metrics;

/** Where the times of one rank's generations go. Safe for concurrent use. */
record RankSeries(Metrics.Timer firstToken, Metrics.Timer interToken, Metrics.Timer whole) {
  /** Keeps nothing. */
  static final RankSeries SILENT = new RankSeries(_ -> {}, _ -> {}, _ -> {});
}
