package io.dynamo.frontend.sse;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Wakes the one thread that waits for any of the inboxes that share it. Rung by any thread, heard
 * by the consumer only.
 */
public final class Doorbell {
  private volatile @Nullable Thread waiting; // the consumer, while it is parked

  /** Makes the consumer look again, if it waits. */
  void ring() {
    var consumer = waiting;
    if (consumer != null) {
      LockSupport.unpark(consumer);
    }
  }

  /**
   * Waits until {@code ready}, which must become true before the ring that tells of it.
   *
   * @return false when {@code nanos} passed before
   */
  public boolean await(BooleanSupplier ready, long nanos) throws InterruptedException {
    if (ready.getAsBoolean()) {
      return true;
    }
    long until = System.nanoTime() + nanos;
    waiting = Thread.currentThread();
    try {
      while (!ready.getAsBoolean()) {
        long left = until - System.nanoTime();
        if (left <= 0) {
          return false;
        }
        LockSupport.parkNanos(this, left);
        if (Thread.interrupted()) {
          throw new InterruptedException();
        }
      }
      return true;
    } finally {
      waiting = null;
    }
  }
}
