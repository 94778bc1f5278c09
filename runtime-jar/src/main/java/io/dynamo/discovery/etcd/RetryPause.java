package io.dynamo.discovery.etcd;

import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * The growing pauses between attempts to reach etcd: they double from a quarter of a second up to
 * five seconds, each shortened at random by up to a half, so that processes do not return all at
 * once. Confined to one thread.
 */
final class RetryPause {
  private static final long FIRST_MILLIS = 250;
  private static final long LONGEST_MILLIS = 5000;

  private final RandomGenerator random;
  private long millis = FIRST_MILLIS;

  RetryPause(RandomGenerator random) {
    this.random = random;
  }

  /** Begins anew, after a success. */
  void reset() {
    millis = FIRST_MILLIS;
  }

  /** Returns the next pause. */
  Duration next() {
    long longest = millis;
    millis = Math.min(2 * millis, LONGEST_MILLIS);
    return Duration.ofMillis(longest - random.nextLong(longest / 2));
  }
}
