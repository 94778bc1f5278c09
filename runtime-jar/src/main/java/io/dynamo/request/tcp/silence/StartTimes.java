package io.dynamo.request.tcp.silence;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Measures how long a worker takes for one step towards an answer, and derives the time limit for
 * that step: four times the slowest recent duration, which decays with a half-life of one minute,
 * clamped between two bounds. Safe for concurrent use.
 */
final class StartTimes {
  private static final int FACTOR = 4;
  private static final double HALF_LIFE_NANOS = Duration.ofMinutes(1).toNanos();

  private final long leastNanos;
  private final long mostNanos;
  private final LongSupplier nanoTime;
  private long slowestNanos; // guarded by this, as of the last change
  private long changedAtNanos; // guarded by this

  StartTimes(Duration least, Duration most, LongSupplier nanoTime) {
    mostNanos = most.toNanos();
    leastNanos = Math.min(least.toNanos(), mostNanos);
    this.nanoTime = nanoTime;
    changedAtNanos = nanoTime.getAsLong();
  }

  /** Records the duration of one step. */
  synchronized void record(long tookNanos) {
    long now = nanoTime.getAsLong();
    slowestNanos = Math.max(tookNanos, slowestAt(now));
    changedAtNanos = now;
  }

  /** Returns how long to wait for the next step. */
  synchronized long limitNanos() {
    return Math.clamp(FACTOR * slowestAt(nanoTime.getAsLong()), leastNanos, mostNanos);
  }

  private long slowestAt(long now) {
    return (long) (slowestNanos * Math.pow(0.5, (now - changedAtNanos) / HALF_LIFE_NANOS));
  }
}
