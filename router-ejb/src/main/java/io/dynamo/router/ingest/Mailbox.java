package io.dynamo.router.ingest;

import java.lang.System.Logger.Level;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Runs tasks one at a time, in the order they came, on an executor. Any thread adds; none waits. A
 * task that fails is logged and the next one runs. Once the executor has been shut down nothing
 * runs.
 */
final class Mailbox {
  private static final System.Logger LOG = System.getLogger(Mailbox.class.getName());

  private final Executor executor;
  private final int capacity;
  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final AtomicInteger offered = new AtomicInteger(); // of the tasks, those by offer
  private final AtomicInteger work = new AtomicInteger(); // passes owed

  /**
   * @param capacity tasks that may wait by {@link #offer}
   */
  Mailbox(Executor executor, int capacity) {
    this.executor = executor;
    this.capacity = capacity;
  }

  /** Adds a task unless too many wait already; whether it was added. */
  boolean offer(Runnable task) {
    if (offered.incrementAndGet() > capacity) {
      offered.decrementAndGet();
      return false;
    }
    add(
        () -> {
          offered.decrementAndGet();
          task.run();
        });
    return true;
  }

  /** Adds a task of which there are few by nature. */
  void add(Runnable task) {
    tasks.add(task);
    if (work.getAndIncrement() == 0) {
      try {
        executor.execute(this::run);
      } catch (RejectedExecutionException stopped) {
        tasks.clear(); // nobody will run them
        work.set(0);
      }
    }
  }

  private void run() {
    int passes = 1;
    do {
      for (var task = tasks.poll(); task != null; task = tasks.poll()) {
        try {
          task.run();
        } catch (RuntimeException | Error e) {
          LOG.log(Level.ERROR, "the intake of KV events failed at a task; it goes on", e);
        }
      }
      passes = work.addAndGet(-passes);
    } while (passes != 0);
  }
}
