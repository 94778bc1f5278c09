package io.dynamo.request.tcp.silence;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * How long a worker takes for one step towards an answer, and how long it is waited for therefore:
 * several times the slowest of late, which is forgotten by halves, between two bounds. Safe for
 * concurrent use.
 */
final class StartTimes {
  private static final int FACTOR = 4;
  private static final double HALF_LIFE_NANOS = Duration.ofMinutes(1).toNanos();

  private final long leastNanos;
  private final long mostNanos;
  private final LongSupplier nanoTime;
  private long slowestNanos; // guarded by this, at the time of the last change
  private long changedAtNanos; // guarded by this

  StartTimes(Duration least, Duration most, LongSupplier nanoTime) {
    mostNanos = most.toNanos();
    leastNanos = Math.min(least.toNanos(), mostNanos);
    this.nanoTime = nanoTime;
    changedAtNanos = nanoTime.getAsLong();
  }

  /** The worker has taken the step. */
  synchronized void record(long tookNanos) {
    long now = nanoTime.getAsLong();
    slowestNanos = Math.max(tookNanos, slowestAt(now));
    changedAtNanos = now;
  }

  /** How long to wait for the next step. */
  synchronized long limitNanos() {
    return Math.clamp(FACTOR * slowestAt(nanoTime.getAsLong()), leastNanos, mostNanos);
  }

  private long slowestAt(long now) {
    return (long) (slowestNanos * Math.pow(0.5, (now - changedAtNanos) / HALF_LIFE_NANOS));
  }
}
