package io.dynamo.request.tcp;

import java.util.concurrent.atomic.AtomicLong;

/** The bytes of requests that may wait to be written, all together. Safe for concurrent use. */
final class SendBudget {
  private final long maxBytes;
  private final AtomicLong taken = new AtomicLong();

  SendBudget(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** Whether {@code bytes} more may wait; a single request always may. */
  boolean take(long bytes) {
    long all = taken.addAndGet(bytes);
    if (all > maxBytes && all > bytes) {
      taken.addAndGet(-bytes);
      return false;
    }
    return true;
  }

  void give(long bytes) {
    taken.addAndGet(-bytes);
  }

  /** Bytes that may wait. */
  long maxBytes() {
    return maxBytes;
  }

  /** Bytes that wait now. */
  long taken() {
    return taken.get();
  }
}
