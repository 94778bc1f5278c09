package io.dynamo.router;

import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.RouterMetrics;

/** Where a decision's time goes. Dynamo's histograms are in milliseconds. */
final class OverheadMeters {
  private static final double NANOS_PER_MILLI = 1e6;

  private final Metrics.Timer hashing;
  private final Metrics.Timer matching;
  private final Metrics.Timer scheduling;
  private final Metrics.Timer total;

  OverheadMeters(Metrics metrics, String routerId) {
    var label = new Label("router_id", routerId);
    hashing = metrics.timer(RouterMetrics.OVERHEAD_BLOCK_HASHING, label);
    matching = metrics.timer(RouterMetrics.OVERHEAD_FIND_MATCHES, label);
    scheduling = metrics.timer(RouterMetrics.OVERHEAD_SCHEDULING, label);
    total = metrics.timer(RouterMetrics.OVERHEAD_TOTAL, label);
  }

  void hashing(long nanos) {
    hashing.record(nanos / NANOS_PER_MILLI, 1);
  }

  void matching(long nanos) {
    matching.record(nanos / NANOS_PER_MILLI, 1);
  }

  void scheduling(long nanos) {
    scheduling.record(nanos / NANOS_PER_MILLI, 1);
  }

  void total(long nanos) {
    total.record(nanos / NANOS_PER_MILLI, 1);
  }
}
