package io.dynamo.worker.load;

import io.dynamo.metrics.Label;
import io.dynamo.metrics.MetricName;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.WorkerMetrics;
import io.dynamo.worker.engine.LoadReport;
import io.dynamo.worker.engine.RankLoad;
import java.util.Arrays;
import java.util.function.ToDoubleFunction;

/** Publishes each rank's load as gauges that are read at every scrape. */
public final class LoadGauges {
  private LoadGauges() {}

  /**
   * Adds the gauges of all ranks.
   *
   * @param ranks the engine's number of ranks
   * @param labels the labels of the endpoint; {@code dp_rank} is added
   */
  public static void attach(Metrics metrics, LoadReport report, int ranks, Label... labels) {
    for (int rank = 0; rank < ranks; rank++) {
      var own = Arrays.copyOf(labels, labels.length + 1);
      own[labels.length] = new Label("dp_rank", Integer.toString(rank));
      var gauges = new Gauges(metrics, report, rank, own);
      gauges.add(WorkerMetrics.TOTAL_BLOCKS, RankLoad::totalBlocks);
      gauges.add(
          WorkerMetrics.CACHE_USAGE, load -> (double) load.heldBlocks() / load.totalBlocks());
      gauges.add(
          WorkerMetrics.CACHE_HIT_RATE, load -> (double) load.cachedTokens() / load.promptTokens());
      gauges.add(WorkerMetrics.RUNNING, RankLoad::running);
      gauges.add(WorkerMetrics.WAITING, RankLoad::waiting);
      gauges.add(WorkerMetrics.DECODE_BLOCKS, RankLoad::heldBlocks);
      gauges.add(WorkerMetrics.PREFILL_TOKENS, RankLoad::prefillTokens);
      gauges.add(WorkerMetrics.CACHED_BLOCKS, RankLoad::cachedBlocks);
      gauges.add(WorkerMetrics.CORRUPT_BLOCKS, RankLoad::corruptBlocks);
    }
  }

  private record Gauges(Metrics metrics, LoadReport report, int rank, Label[] labels) {
    void add(MetricName name, ToDoubleFunction<RankLoad> value) {
      metrics.gauge(
          name,
          () -> {
            var ranks = report.ranks();
            return rank < ranks.size() ? value.applyAsDouble(ranks.get(rank)) : Double.NaN;
          },
          labels);
    }
  }
}
