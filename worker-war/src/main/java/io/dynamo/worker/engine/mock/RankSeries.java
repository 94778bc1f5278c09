package io.dynamo.worker.engine.mock;

import io.dynamo.metrics.Metrics;
import java.util.function.LongConsumer;

/**
 * Where the times of one rank's generations go, and how often one had to give way. Safe for
 * concurrent use.
 *
 * @param preemptions is told how many there were since it was told last
 */
record RankSeries(
    Metrics.Timer firstToken,
    Metrics.Timer interToken,
    Metrics.Timer whole,
    LongConsumer preemptions) {
  /** Keeps nothing. */
  static final RankSeries SILENT = new RankSeries(_ -> {}, _ -> {}, _ -> {}, _ -> {});
}
