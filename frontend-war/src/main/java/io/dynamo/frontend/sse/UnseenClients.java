package io.dynamo.frontend.sse;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;

/**
 * Clients of whom nobody tells that they leave: a write to them does, a heartbeat at the latest.
 */
public final class UnseenClients implements LeavingClients {
  private final Semaphore rung = new Semaphore(0);

  @Override
  public void watch(List<Arrival> arrived) {
    // nothing to ask
  }

  @Override
  public void await(Duration atMost, LongConsumer left) {
    try {
      if (rung.tryAcquire(atMost.toNanos(), TimeUnit.NANOSECONDS)) {
        rung.drainPermits();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void wake() {
    rung.release();
  }

  @Override
  public void close() {
    // nothing is held
  }
}
