package io.dynamo.worker.engine.mock;

import java.util.concurrent.atomic.AtomicLong;

/** Counts the generations that were given up. Safe for concurrent use. */
final class CancelLog {
  private final AtomicLong count = new AtomicLong();
  private volatile long lastNanos;

  void record() {
    lastNanos = System.nanoTime(); // first: who sees the count sees a time no older
    count.incrementAndGet();
  }

  long count() {
    return count.get();
  }

  long lastNanos() {
    return lastNanos;
  }
}
