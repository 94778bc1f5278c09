package io.dynamo.concurrent;

import java.time.Duration;

/**
 * The instant after which nobody waits any more. Travels with a request, so that every wait on its
 * way shares one budget.
 *
 * @param nanoTime the instant, in the terms of {@link System#nanoTime()}
 */
public record Deadline(long nanoTime) {
  /** A deadline {@code timeout} from now. */
  public static Deadline after(Duration timeout) {
    return new Deadline(System.nanoTime() + timeout.toNanos());
  }

  /** The remaining time in nanoseconds; zero or less when it has passed. */
  public long remainingNanos() {
    return nanoTime - System.nanoTime();
  }

  public boolean isExpired() {
    return remainingNanos() <= 0;
  }

  /** The earlier of this deadline and one {@code timeout} from now. */
  public Deadline within(Duration timeout) {
    var other = after(timeout);
    return other.nanoTime - nanoTime < 0 ? other : this;
  }
}
