package io.dynamo.concurrent;

import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Runs short tasks later. Safe for concurrent use. */
@FunctionalInterface
public interface Alarms {
  /** One scheduled task. */
  @FunctionalInterface
  interface Alarm {
    /** Cancels the task; has no effect once the task has started. */
    void cancel();
  }

  /** Runs {@code task}, which must not block, after {@code delay}. */
  Alarm after(Duration delay, Runnable task);

  /** Returns alarms that run on {@code timer}. */
  static Alarms on(ScheduledExecutorService timer) {
    return (delay, task) -> {
      var future = timer.schedule(task, delay.toNanos(), TimeUnit.NANOSECONDS);
      return () -> future.cancel(false);
    };
  }
}
