package io.dynamo.router.pool;

import io.dynamo.discovery.WorkerSet;
import io.dynamo.event.RawStreams;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.RouterMetrics;
import org.jspecify.annotations.Nullable;

/** Pools of SGLang's workers in stores of Mooncake. Safe for concurrent use. */
public final class HicachePools implements SharedPools {
  private final HicacheCards cards;
  private final RawStreams streams;
  private final Metrics.Counter failures;

  /**
   * @param streams bring what the stores tell
   * @param routerId a label of what it counts
   */
  public HicachePools(HicacheCards cards, RawStreams streams, Metrics metrics, String routerId) {
    this.cards = cards;
    this.streams = streams;
    this.failures =
        metrics.counter(RouterMetrics.SHARED_CACHE_ERRORS, new Label("router_id", routerId));
  }

  @Override
  public SharedPool open(WorkerSet workers, @Nullable String events) {
    var pool = new HicachePool(workers, events, cards, streams, failures);
    pool.cardsChanged();
    return pool;
  }
}
