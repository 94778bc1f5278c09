package io.dynamo.worker.engine.mock;

import io.dynamo.metrics.Metrics;
import java.util.function.LongConsumer;

/**
 * The metrics of one rank's generations: their times, and how often one was preempted. Safe for
 * concurrent use.
 *
 * @param preemptions receives the number of preemptions since its last call
 */
record RankSeries(
    Metrics.Timer firstToken,
    Metrics.Timer interToken,
    Metrics.Timer whole,
    LongConsumer preemptions) {
  /** Discards all values. */
  static final RankSeries SILENT = new RankSeries(_ -> {}, _ -> {}, _ -> {}, _ -> {});
}
