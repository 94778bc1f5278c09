package io.dynamo.worker.engine;

import java.util.concurrent.atomic.AtomicLong;

/** Counts the generations that were cancelled. Safe for concurrent use. */
public final class CancelLog {
  private final AtomicLong count = new AtomicLong();
  private volatile long lastNanos;

  public void record() {
    lastNanos = System.nanoTime(); // first: a reader that sees the count sees a time no older
    count.incrementAndGet();
  }

  public long count() {
    return count.get();
  }

  public long lastNanos() {
    return lastNanos;
  }
}
