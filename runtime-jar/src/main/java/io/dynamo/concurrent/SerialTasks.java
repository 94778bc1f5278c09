package io.dynamo.concurrent;

import java.lang.System.Logger.Level;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Runs tasks one at a time, in the order they were added, on an executor. Any thread may add; none
 * waits. The executor's thread is held only while there are tasks.
 *
 * <p>Each task sees what happened before it was added and what the tasks before it did: state that
 * only these tasks touch needs no lock. A task that throws is logged and the next one runs.
 *
 * <p>When the executor rejects the work, as one that was shut down does, all tasks that wait are
 * discarded and the call that met the rejection returns false. A task added later tries the
 * executor again.
 */
public final class SerialTasks implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(SerialTasks.class.getName());

  /** A task that counts against the bound until it begins. */
  private record Bounded(Runnable task) {}

  private final String name;
  private final int capacity;
  private final Queue<Object> waiting = new ConcurrentLinkedQueue<>(); // Runnable or Bounded
  private final AtomicInteger bounded = new AtomicInteger(); // number of those waiting
  private final CoalescedTask runs;
  private volatile boolean closed;

  private SerialTasks(String name, Executor executor, int capacity) {
    this.name = name;
    this.capacity = capacity;
    this.runs = new CoalescedTask(name, executor, this::runAll, this::discardAll);
  }

  /**
   * Returns a queue in which at most {@code capacity} tasks wait, not counting those given to
   * {@link #add}.
   *
   * @param name for the log, as in "a task of … failed"
   */
  public static SerialTasks bounded(String name, Executor executor, int capacity) {
    if (capacity < 1) {
      throw new IllegalArgumentException(
          "capacity " + capacity + " of " + name + " is below 1: no task could ever wait");
    }
    return new SerialTasks(name, executor, capacity);
  }

  /**
   * Returns a queue for tasks whose number the caller bounds.
   *
   * @param name for the log, as in "a task of … failed"
   */
  public static SerialTasks unbounded(String name, Executor executor) {
    return new SerialTasks(name, executor, Integer.MAX_VALUE);
  }

  /**
   * Adds a task unless too many offered ones wait already.
   *
   * @return false when there is no room, the executor rejected the work, or this queue is closed:
   *     the task will not run. True is no guarantee when another thread's task is being rejected at
   *     the same moment: this one is then discarded with it.
   */
  public boolean offer(Runnable task) {
    if (bounded.incrementAndGet() > capacity) {
      bounded.decrementAndGet();
      return false;
    }
    return enqueue(new Bounded(task));
  }

  /**
   * Adds a task beyond the bound, for tasks that are few by nature.
   *
   * @return false when the executor rejected the work or this queue is closed, as with {@link
   *     #offer}
   */
  public boolean add(Runnable task) {
    return enqueue(task);
  }

  private boolean enqueue(Object task) {
    if (closed) {
      return false;
    }
    waiting.add(task);
    return runs.request();
  }

  private void runAll() {
    for (var task = next(); task != null && !closed; task = next()) {
      try {
        task.run();
      } catch (RuntimeException | Error e) {
        LOG.log(Level.ERROR, "a task of " + name + " failed; the next one runs", e);
      }
    }
    if (closed) {
      waiting.clear(); // tasks added during the close
    }
  }

  private @Nullable Runnable next() {
    var next = waiting.poll();
    if (next instanceof Bounded(var task)) {
      bounded.decrementAndGet();
      return task;
    }
    return (Runnable) next;
  }

  private void discardAll() {
    while (next() != null) {
      // the call that met the rejection returns false
    }
  }

  public boolean isClosed() {
    return closed;
  }

  /** Discards the waiting tasks and refuses new ones; a running task is not stopped. Idempotent. */
  @Override
  public void close() {
    closed = true;
    waiting.clear();
  }
}
