package io.dynamo.event;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for what another thread brings about and tells nobody of. */
public final class Until {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration PAUSE = Duration.ofMillis(2);

  private Until() {}

  /** Returns when {@code condition} holds; fails when it does not within a minute. */
  public static void holds(BooleanSupplier condition) {
    long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - start > PATIENCE.toNanos()) {
        throw new AssertionError("it has not come true within " + PATIENCE);
      }
      LockSupport.parkNanos(PAUSE.toNanos());
    }
  }
}
