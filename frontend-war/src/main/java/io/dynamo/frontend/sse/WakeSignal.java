package io.dynamo.frontend.sse;

import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Wakes the consumer thread that waits for any of the inboxes that share this signal. Any thread
 * may signal; one thread waits and closes.
 *
 * <p>A wait has a time limit. All limits share one timer task, which is scheduled again only after
 * it has fired: a timed park of a virtual thread would schedule and cancel a task for every token.
 */
public final class WakeSignal implements AutoCloseable {
  /** Signals at one point in time, by {@link System#nanoTime}. */
  private final class Timeout implements Runnable {
    final long at;
    volatile boolean fired;

    Timeout(long at) {
      this.at = at;
    }

    @Override
    public void run() {
      fired = true; // before the signal: a wait that begins now schedules another
      signal();
    }
  }

  private final ScheduledExecutorService timer;
  private volatile @Nullable Thread waiting; // the consumer, while it is parked
  private @Nullable Timeout timeout; // the consumer's, as is the next
  private @Nullable Future<?> scheduled;

  /**
   * @param timer for tasks that never wait
   */
  public WakeSignal(ScheduledExecutorService timer) {
    this.timer = timer;
  }

  /** Makes the consumer check its condition again, if it waits. */
  void signal() {
    var consumer = waiting;
    if (consumer != null) {
      LockSupport.unpark(consumer);
    }
  }

  /**
   * Waits until {@code ready}.
   *
   * @param ready must become true before the signal that announces it, and must take no lock
   * @return false when {@code nanos} passed before
   */
  public boolean await(BooleanSupplier ready, long nanos) throws InterruptedException {
    if (ready.getAsBoolean()) {
      return true;
    }
    long until = System.nanoTime() + nanos;
    waiting = Thread.currentThread();
    try {
      while (true) {
        boolean late = until - System.nanoTime() <= 0;
        if (!late) {
          signalBy(until);
        }
        // looked at last: the timer's lock, when another holds it, parks too and takes the permit
        // of a signal that came before
        if (ready.getAsBoolean()) {
          return true;
        }
        if (late) {
          return false;
        }
        LockSupport.park(this);
        if (Thread.interrupted()) {
          throw new InterruptedException();
        }
      }
    } finally {
      waiting = null;
    }
  }

  /** Ensures a signal at {@code until} or earlier; an early one costs one more check. */
  private void signalBy(long until) {
    var set = timeout;
    if (set != null && !set.fired && set.at - until <= 0) {
      return;
    }
    close();
    var next = new Timeout(until);
    timeout = next;
    scheduled = timer.schedule(next, until - System.nanoTime(), TimeUnit.NANOSECONDS);
  }

  /** Cancels the timer task. A later wait schedules another. */
  @Override
  public void close() {
    var last = scheduled;
    if (last != null) {
      last.cancel(false);
    }
    timeout = null;
    scheduled = null;
  }
}
