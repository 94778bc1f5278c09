package io.dynamo.router.ingest;

import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Runs short tasks at a later time, on a thread of its own. */
public interface Alarm {
  /** A task that may still be kept from running. Idempotent. */
  interface Set {
    void cancel();
  }

  Set after(Duration delay, Runnable task);

  /** Alarms by a timer that stays its owner's to stop. */
  static Alarm of(ScheduledExecutorService timer) {
    return (delay, task) -> {
      var future = timer.schedule(task, delay.toNanos(), TimeUnit.NANOSECONDS);
      return () -> future.cancel(false);
    };
  }
}
