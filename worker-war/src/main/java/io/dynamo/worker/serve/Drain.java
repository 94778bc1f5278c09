package io.dynamo.worker.serve;

import io.dynamo.concurrent.Deadline;
import io.dynamo.request.EndpointServer;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/**
 * How the running streams of an endpoint come to their ends: by themselves, or with another worker.
 * Used by one thread.
 *
 * <p>First all are let be. Then those that may not end in time are handed over, looked at again and
 * again, since paces change and workers come. Without another worker all stay to the last.
 */
public final class Drain {
  private static final Duration LOOK = Duration.ofMillis(250);

  /**
   * When streams are handed over.
   *
   * @param handoverAfter how long all streams are let be
   * @param successors whether another worker serves the endpoint
   */
  public record Plan(Duration handoverAfter, BooleanSupplier successors) {}

  private final Handovers streams;
  private final Plan plan;
  private int handedOver;

  public Drain(Handovers streams, Plan plan) {
    this.streams = streams;
    this.plan = plan;
  }

  /**
   * Refuses new requests and waits for the running ones.
   *
   * @return whether all have ended by the deadline
   */
  public boolean run(EndpointServer.Served served, Deadline deadline) throws InterruptedException {
    boolean all = served.drain(deadline.within(plan.handoverAfter()));
    while (!all && !deadline.isExpired()) {
      if (plan.successors().getAsBoolean()) {
        handedOver += streams.handOver(deadline.remainingNanos());
      }
      all = served.drain(deadline.within(LOOK));
    }
    return all;
  }

  /** Streams that go on with other workers. */
  public int handedOver() {
    return handedOver;
  }
}
