package io.dynamo.event.zmq;

import io.dynamo.concurrent.SerialTasks;
import io.dynamo.event.EventBudget;
import java.util.concurrent.Executor;

/**
 * Tasks that run one at a time, in order, on a thread that is there while there are any; those that
 * are offered hold bytes of a budget until they begin. Never waits. Safe for concurrent use.
 */
final class InTurn {
  private final EventBudget budget;
  private final SerialTasks tasks;

  /**
   * @param budget for what is offered; of this alone
   */
  InTurn(EventBudget budget, Executor threads) {
    this.budget = budget;
    this.tasks = SerialTasks.unbounded("a stream's listener", threads);
  }

  /** Takes a task that holds so many bytes, or returns false: there is no room. */
  boolean offer(int bytes, Runnable task) {
    if (!budget.take(bytes)) {
      return false;
    }
    add(
        () -> {
          budget.give(bytes);
          task.run();
        });
    return true;
  }

  /** Adds a task without a bound on those that wait. */
  void add(Runnable task) {
    if (!tasks.add(task)) {
      close(); // the threads are gone
    }
  }

  /** Starts no task after this. Idempotent. */
  void close() {
    tasks.close();
  }
}
