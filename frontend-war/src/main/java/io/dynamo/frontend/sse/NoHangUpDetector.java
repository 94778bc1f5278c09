package io.dynamo.frontend.sse;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;

/**
 * A detector that reports no client. A client that leaves is then found by a failed write to it, at
 * the latest that of a heartbeat.
 */
public final class NoHangUpDetector implements HangUpDetector {
  private final Semaphore rung = new Semaphore(0);

  @Override
  public void watch(List<WatchedClient> arrived) {
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
