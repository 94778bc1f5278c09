package io.dynamo.worker.serve;

import io.dynamo.concurrent.Deadline;
import io.dynamo.request.EndpointServer;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/**
 * Ends the running streams of an endpoint: they finish by themselves, or are handed over to another
 * worker. Used by one thread.
 *
 * <p>At first all streams run on. Then those that may not end in time are handed over, checked
 * repeatedly, since paces change and workers appear. What was computed for them is moved within
 * half of the time that is left, so that the other half is there for what follows. Without another
 * worker all streams run until the deadline.
 */
public final class Drain {
  private static final Duration LOOK = Duration.ofMillis(250);

  /**
   * The timing and the precondition of handovers.
   *
   * @param handoverAfter how long all streams run before the first handover
   * @param successors whether another worker serves the endpoint
   * @param mover moves what was computed for a generation before it is handed over
   */
  public record Plan(Duration handoverAfter, BooleanSupplier successors, BlockMover mover) {
    /**
     * Creates a plan without a transfer of blocks: the next worker computes the text so far again.
     */
    public Plan(Duration handoverAfter, BooleanSupplier successors) {
      this(handoverAfter, successors, BlockMover.NONE);
    }
  }

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
        long leftNanos = deadline.remainingNanos();
        var moves = deadline.within(Duration.ofNanos(leftNanos / 2));
        handedOver += streams.handOver(leftNanos, plan.mover(), moves);
      }
      all = served.drain(deadline.within(LOOK));
    }
    return all;
  }

  /** Returns how many streams were handed over to other workers. */
  public int handedOver() {
    return handedOver;
  }
}
