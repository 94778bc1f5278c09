package io.dynamo.router.endpoint;

import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.RouterMetrics;

/** Durations of the steps of a decision. Dynamo's histograms are in milliseconds. */
final class OverheadMeters {
  private static final long SECONDS_PER_MILLI = 1000; // a timer reports in seconds

  private final Metrics.Timer hashing;
  private final Metrics.Timer matching;
  private final Metrics.Timer sharedCache;
  private final Metrics.Timer scheduling;
  private final Metrics.Timer total;

  OverheadMeters(Metrics metrics, String routerId) {
    var label = new Label("router_id", routerId);
    hashing = metrics.timer(RouterMetrics.OVERHEAD_BLOCK_HASHING, label);
    matching = metrics.timer(RouterMetrics.OVERHEAD_FIND_MATCHES, label);
    sharedCache = metrics.timer(RouterMetrics.OVERHEAD_SHARED_CACHE, label);
    scheduling = metrics.timer(RouterMetrics.OVERHEAD_SCHEDULING, label);
    total = metrics.timer(RouterMetrics.OVERHEAD_TOTAL, label);
  }

  void hashing(long nanos) {
    hashing.record(nanos * SECONDS_PER_MILLI);
  }

  void matching(long nanos) {
    matching.record(nanos * SECONDS_PER_MILLI);
  }

  void sharedCache(long nanos) {
    sharedCache.record(nanos * SECONDS_PER_MILLI);
  }

  void scheduling(long nanos) {
    scheduling.record(nanos * SECONDS_PER_MILLI);
  }

  void total(long nanos) {
    total.record(nanos * SECONDS_PER_MILLI);
  }
}
