package io.dynamo.worker.engine.mock;

import io.dynamo.metrics.Label;
import io.dynamo.metrics.MetricName;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.SimulationMetrics;
import io.dynamo.worker.engine.RankLoad;
import java.util.List;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Publishes a simulation's metrics under vLLM's names, a rank as an engine, so that dashboards made
 * for real engines show it. Safe for concurrent use.
 */
public final class VllmSeries {
  private final Metrics metrics;
  private final String model;
  private volatile @Nullable MockEngine latest; // replaced when a new engine starts

  /**
   * @param model the model name that clients use
   */
  public VllmSeries(Metrics metrics, String model) {
    this.metrics = metrics;
    this.model = model;
  }

  /**
   * Publishes the gauges of {@code rank} of {@code engine}; returns the timers and the counter that
   * its generations record to.
   */
  RankSeries publish(MockEngine engine, int rank) {
    latest = engine;
    var labels =
        new Label[] {new Label("engine", Integer.toString(rank)), new Label("model_name", model)};
    gauge(SimulationMetrics.RUNNING, rank, RankLoad::running, labels);
    gauge(SimulationMetrics.WAITING, rank, RankLoad::waiting, labels);
    gauge(SimulationMetrics.CACHE_USAGE, rank, VllmSeries::usage, labels);
    gauge(SimulationMetrics.GPU_CACHE_USAGE, rank, VllmSeries::usage, labels);
    return new RankSeries(
        metrics.timer(SimulationMetrics.TIME_TO_FIRST_TOKEN, labels),
        metrics.timer(SimulationMetrics.INTER_TOKEN_LATENCY, labels),
        metrics.timer(SimulationMetrics.REQUEST_LATENCY, labels),
        metrics.counter(SimulationMetrics.PREEMPTIONS, labels)::add);
  }

  private static double usage(RankLoad load) {
    return (double) load.heldBlocks() / load.totalBlocks();
  }

  private void gauge(MetricName name, int rank, ToDoubleFunction<RankLoad> value, Label... labels) {
    metrics.gauge(
        name,
        () -> {
          var engine = latest;
          var ranks = engine == null ? List.<RankLoad>of() : engine.ranks();
          return rank < ranks.size() ? value.applyAsDouble(ranks.get(rank)) : Double.NaN;
        },
        labels);
  }
}
