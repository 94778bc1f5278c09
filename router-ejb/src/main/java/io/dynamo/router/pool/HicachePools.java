package io.dynamo.router.pool;

import io.dynamo.discovery.WorkerSet;
import io.dynamo.event.RawStreams;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.RouterMetrics;
import org.jspecify.annotations.Nullable;

/** Opens pools of SGLang's workers in Mooncake stores. Safe for concurrent use. */
public final class HicachePools implements SharedPools {
  private final HicacheCards cards;
  private final RawStreams streams;
  private final Metrics.Counter failures;

  /**
   * Creates an opener of pools.
   *
   * @param streams deliver the stores' events
   * @param routerId a label of the error counter
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
