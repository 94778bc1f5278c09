package io.dynamo.router.ingest;

import io.dynamo.concurrent.Alarms;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Alarms that ring when the test calls for it. For one thread. */
final class ManualAlarm implements Alarms {
  private static final class Task implements Alarm {
    final Duration delay;
    final Runnable task;
    boolean cancelled;

    Task(Duration delay, Runnable task) {
      this.delay = delay;
      this.task = task;
    }

    @Override
    public void cancel() {
      cancelled = true;
    }
  }

  private List<Task> tasks = new ArrayList<>();

  @Override
  public Alarm after(Duration delay, Runnable task) {
    var added = new Task(delay, task);
    tasks.add(added);
    return added;
  }

  /** Returns the delays of the tasks that are set. */
  List<Duration> delays() {
    return tasks.stream().filter(task -> !task.cancelled).map(task -> task.delay).toList();
  }

  /** Runs all tasks that are set now, but not those that they set. */
  void ringAll() {
    var due = tasks;
    tasks = new ArrayList<>();
    for (var task : due) {
      if (!task.cancelled) {
        task.task.run();
      }
    }
  }
}
