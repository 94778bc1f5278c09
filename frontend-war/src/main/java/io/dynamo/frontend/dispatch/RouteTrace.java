package io.dynamo.frontend.dispatch;

import io.dynamo.discovery.InstanceId;
import io.dynamo.router.RouteDecision;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Records which workers served a generation. Each leg, the part that one worker generates, adds its
 * place as it starts; the answer to the client reads them. Safe for concurrent use.
 */
public final class RouteTrace {
  /**
   * The place of one leg.
   *
   * @param overlapBlocks leading blocks of the prompt that the router expected to be cached there
   * @param queued the number of requests that still waited for a worker when this leg got its own
   * @param routedNanos when the worker was chosen, by {@link System#nanoTime()}
   */
  public record Place(
      InstanceId worker, int rank, int overlapBlocks, int queued, long routedNanos) {}

  private volatile @Nullable Place prefill;
  private volatile @Nullable Place first;
  private volatile @Nullable Place latest;
  private final AtomicInteger legs = new AtomicInteger();

  private static Place place(RouteDecision decision, int queued) {
    return new Place(
        decision.instance().id(),
        decision.rank().rank(),
        decision.overlapBlocks(),
        queued,
        System.nanoTime());
  }

  /** Notes the worker that computes the prompt for the next leg. */
  void addPrefill(RouteDecision decision) {
    if (prefill == null) {
      prefill = place(decision, 0);
    }
  }

  void add(RouteDecision decision, int queued) {
    var place = place(decision, queued);
    if (first == null) {
      first = place;
    }
    latest = place;
    legs.incrementAndGet();
  }

  /** Returns the number of legs that have started. */
  public int legs() {
    return legs.get();
  }

  /**
   * Returns the place where the prompt was computed first: that of a prefill worker, or of the
   * first leg; null before either starts.
   */
  public @Nullable Place prefill() {
    var remote = prefill;
    return remote == null ? first : remote;
  }

  /** Returns the place of the first leg; null before it starts. */
  public @Nullable Place first() {
    return first;
  }

  /** Returns the place of the latest leg; null before the first starts. */
  public @Nullable Place latest() {
    return latest;
  }
}
