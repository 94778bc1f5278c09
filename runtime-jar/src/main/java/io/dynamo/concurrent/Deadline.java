package io.dynamo.concurrent;

import java.time.Duration;

/**
 * The time at which every waiting process gives up on a request. Travels with the request, so that
 * all its waits share one budget.
 *
 * @param nanoTime the time, in terms of {@link System#nanoTime()}
 */
public record Deadline(long nanoTime) {
  /** Returns a deadline {@code timeout} from now. */
  public static Deadline after(Duration timeout) {
    return new Deadline(System.nanoTime() + timeout.toNanos());
  }

  /** Returns the remaining time in nanoseconds; zero or less when it has passed. */
  public long remainingNanos() {
    return nanoTime - System.nanoTime();
  }

  public boolean isExpired() {
    return remainingNanos() <= 0;
  }

  /** Returns the earlier of this deadline and one {@code timeout} from now. */
  public Deadline within(Duration timeout) {
    var other = after(timeout);
    return other.nanoTime - nanoTime < 0 ? other : this;
  }
}
