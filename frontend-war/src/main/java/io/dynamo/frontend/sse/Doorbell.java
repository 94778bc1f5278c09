package io.dynamo.frontend.sse;

import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Wakes the one thread that waits for any of the inboxes that share it. Rung by any thread, heard
 * by the consumer only, which closes it.
 *
 * <p>Waits with a limit, one for each token, are kept by one alarm that is set anew only when it
 * has rung: a timed park of a virtual thread would set and cancel one every time.
 */
public final class Doorbell implements AutoCloseable {
  /** Rings at a time, by {@link System#nanoTime}. */
  private final class Alarm implements Runnable {
    final long at;
    volatile boolean rung;

    Alarm(long at) {
      this.at = at;
    }

    @Override
    public void run() {
      rung = true; // before the ring: who waits from now on sets another
      ring();
    }
  }

  private final ScheduledExecutorService timer;
  private volatile @Nullable Thread waiting; // the consumer, while it is parked
  private @Nullable Alarm alarm; // the consumer's, as is the next
  private @Nullable Future<?> scheduled;

  /**
   * @param timer for tasks that never wait
   */
  public Doorbell(ScheduledExecutorService timer) {
    this.timer = timer;
  }

  /** Makes the consumer look again, if it waits. */
  void ring() {
    var consumer = waiting;
    if (consumer != null) {
      LockSupport.unpark(consumer);
    }
  }

  /**
   * Waits until {@code ready}.
   *
   * @param ready must become true before the ring that announces it, and must take no lock
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
          ringBy(until);
        }
        // looked at last: the timer's lock, when another holds it, parks too and takes the permit
        // of a ring that came before
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

  /** Sees to a ring at {@code until} or earlier, which costs another look only. */
  private void ringBy(long until) {
    var set = alarm;
    if (set != null && !set.rung && set.at - until <= 0) {
      return;
    }
    close();
    var next = new Alarm(until);
    alarm = next;
    scheduled = timer.schedule(next, until - System.nanoTime(), TimeUnit.NANOSECONDS);
  }

  /** No alarm is left. A later wait sets another. */
  @Override
  public void close() {
    var last = scheduled;
    if (last != null) {
      last.cancel(false);
    }
    alarm = null;
    scheduled = null;
  }
}
