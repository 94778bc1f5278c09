package io.dynamo.frontend.dispatch;

import io.dynamo.discovery.InstanceId;
import io.dynamo.router.RouteDecision;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Where a generation is served: written as its legs start, read by who tells the client. Safe for
 * concurrent use.
 */
public final class Trail {
  /**
   * A leg's place.
   *
   * @param overlapBlocks leading blocks of the prompt that the router believed to be there
   * @param queued requests that waited for a worker when this one had found its own
   * @param routedNanos when it was chosen, by {@link System#nanoTime()}
   */
  public record Place(
      InstanceId worker, int rank, int overlapBlocks, int queued, long routedNanos) {}

  private volatile @Nullable Place first;
  private volatile @Nullable Place latest;
  private final AtomicInteger legs = new AtomicInteger();

  void add(RouteDecision decision, int queued) {
    var place =
        new Place(
            decision.instance().id(),
            decision.rank().rank(),
            decision.overlapBlocks(),
            queued,
            System.nanoTime());
    if (first == null) {
      first = place;
    }
    latest = place;
    legs.incrementAndGet();
  }

  /** How many legs have found a place. */
  public int legs() {
    return legs.get();
  }

  /** Where the first leg went, null before it did. */
  public @Nullable Place first() {
    return first;
  }

  /** Where the newest leg went, null before there is one. */
  public @Nullable Place latest() {
    return latest;
  }
}
