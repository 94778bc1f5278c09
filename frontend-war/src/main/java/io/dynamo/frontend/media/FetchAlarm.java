package io.dynamo.frontend.media;

import io.dynamo.concurrent.Deadline;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Interrupts the thread that made it at a deadline: its wait for a connection, a handshake or the
 * next byte ends, and the connection closes, however slowly the other side goes on. Closed before
 * the thread does anything else.
 */
final class FetchAlarm implements AutoCloseable {
  private final Thread owner = Thread.currentThread();
  private final Future<?> ring;
  private boolean fired; // guarded by this
  private boolean over; // guarded by this

  FetchAlarm(Deadline deadline, ScheduledExecutorService timer) {
    ring = timer.schedule(this::fire, Math.max(0, deadline.remainingNanos()), TimeUnit.NANOSECONDS);
  }

  private synchronized void fire() {
    if (!over) {
      fired = true;
      owner.interrupt();
    }
  }

  /** Whether the time is up. */
  synchronized boolean hasFired() {
    return fired;
  }

  /** Stops the alarm and takes back its interrupt. */
  @Override
  public void close() {
    ring.cancel(false);
    synchronized (this) {
      over = true;
      if (fired) {
        boolean _ = Thread.interrupted();
      }
    }
  }
}
