package io.dynamo.frontend.batches;

import io.dynamo.error.FailureShape;
import io.dynamo.frontend.ApiException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Does work of the database on a virtual thread of its own: at once, then after each period, and
 * when it is woken. A failure is logged, and the work done again after the period. Safe for
 * concurrent use.
 */
final class RepeatedTask {
  private static final System.Logger LOG = System.getLogger(RepeatedTask.class.getName());

  private final Duration period;
  private final Work work;
  private final Semaphore news = new Semaphore(0);
  private final Thread thread;
  private volatile boolean stopped;

  /** The work that is repeated. */
  interface Work {
    void run() throws InterruptedException;
  }

  RepeatedTask(String name, Duration period, Work work) {
    this.period = period;
    this.work = work;
    this.thread = Thread.ofVirtual().name(name).unstarted(this::repeat);
  }

  void start() {
    thread.start();
  }

  /** Has the work done soon. */
  void wake() {
    if (news.availablePermits() == 0) {
      news.release();
    }
  }

  boolean isStopped() {
    return stopped;
  }

  /** Ends the work, also one under way. */
  void stop() {
    stopped = true;
    thread.interrupt();
  }

  /** Waits for the end after {@link #stop}; returns whether it came in time. */
  boolean await(Duration time) throws InterruptedException {
    return thread.getState() == Thread.State.NEW || thread.join(time);
  }

  private void repeat() {
    try {
      while (!stopped) {
        try {
          work.run();
        } catch (ApiException e) {
          LOG.log(Level.DEBUG, "batches wait for their database", FailureShape.of(e));
        } catch (RuntimeException | Error e) { // the next time may be better
          LOG.log(Level.ERROR, "batches could not be looked after", FailureShape.of(e));
        }
        if (news.tryAcquire(period.toNanos(), TimeUnit.NANOSECONDS)) {
          news.drainPermits();
        }
      }
    } catch (InterruptedException e) {
      LOG.log(Level.DEBUG, "{0} ends", thread.getName());
    }
  }
}
