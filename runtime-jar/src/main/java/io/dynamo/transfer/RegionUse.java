package io.dynamo.transfer;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Decides which thread frees a region: the closing one, or the last operation that was running
 * then. Safe for concurrent use, never waits.
 */
final class RegionUse {
  private static final int CLOSED = 1 << 31;

  private final AtomicInteger word = new AtomicInteger(); // closed (1 bit) | operations (31 bits)

  /**
   * Enters an operation; every success is followed by one {@link #leave}. Returns false when
   * closed.
   */
  boolean enter() {
    int seen = word.get();
    while (seen >= 0 && seen != Integer.MAX_VALUE) {
      int witness = word.compareAndExchange(seen, seen + 1);
      if (witness == seen) {
        return true;
      }
      seen = witness;
    }
    return false;
  }

  /** Ends an operation. Returns whether the caller must free. */
  boolean leave() {
    return word.decrementAndGet() == CLOSED;
  }

  /** Closes. Returns whether the caller must free. */
  boolean close() {
    return word.getAndUpdate(seen -> seen | CLOSED) == 0;
  }
}
