package io.dynamo.request.tcp;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Limits the bytes that all requests of one kind hold at a time: those that wait to be sent, or
 * those that are being served. Safe for concurrent use.
 */
final class ByteBudget {
  private final long maxBytes;
  private final AtomicLong taken = new AtomicLong();

  ByteBudget(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /**
   * Takes {@code bytes}, unless that would be more than there are; a request that holds all that is
   * taken may take any number.
   */
  boolean take(long bytes) {
    long all = taken.addAndGet(bytes);
    if (all > maxBytes && all > bytes) {
      taken.addAndGet(-bytes);
      return false;
    }
    return true;
  }

  /** Gives back what {@link #take} took. */
  void give(long bytes) {
    taken.addAndGet(-bytes);
  }

  /** The bytes that may be taken at a time. */
  long maxBytes() {
    return maxBytes;
  }

  /** The bytes that are taken now. */
  long taken() {
    return taken.get();
  }
}
