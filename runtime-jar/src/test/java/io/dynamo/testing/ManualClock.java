package io.dynamo.testing;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** A clock that stands still until a test moves it. Safe for concurrent use. */
public final class ManualClock implements InstantSource {
  private final Instant start;
  private final AtomicLong nanos = new AtomicLong();
  private final AtomicLong steppedNanos = new AtomicLong(); // of the wall clock alone

  public ManualClock(Instant start) {
    this.start = start;
  }

  /** A clock that starts at the present second. */
  public static ManualClock now() {
    return new ManualClock(Instant.ofEpochSecond(Instant.now().getEpochSecond()));
  }

  public void advance(Duration by) {
    nanos.addAndGet(by.toNanos());
  }

  /** Sets the wall clock forward or back; the clock for waits does not notice. */
  public void step(Duration by) {
    steppedNanos.addAndGet(by.toNanos());
  }

  @Override
  public Instant instant() {
    return start.plusNanos(nanos.get() + steppedNanos.get());
  }

  /** The same clock for waits: nanoseconds since its start. */
  public LongSupplier nanoTime() {
    return nanos::get;
  }
}
