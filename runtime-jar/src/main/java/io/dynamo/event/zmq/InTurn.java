package io.dynamo.event.zmq;

import io.dynamo.concurrent.SerialTasks;
import io.dynamo.event.EventBudget;
import java.util.concurrent.Executor;

/**
 * Runs tasks one at a time, in order, on a thread that exists while there are tasks; offered tasks
 * hold bytes of a budget until they start. Never waits. Safe for concurrent use.
 */
final class InTurn {
  private final EventBudget budget;
  private final SerialTasks tasks;

  /**
   * @param budget limit of the offered tasks; used by this queue alone
   */
  InTurn(EventBudget budget, Executor threads) {
    this.budget = budget;
    this.tasks = SerialTasks.unbounded("a stream's listener", threads);
  }

  /** Adds a task that holds {@code bytes} of the budget; returns false when there is no room. */
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

  /** Adds a task that is not counted against the budget. */
  void add(Runnable task) {
    if (!tasks.add(task)) {
      close(); // the threads have ended
    }
  }

  /** Discards the waiting tasks and stops starting others. Idempotent. */
  void close() {
    tasks.close();
  }
}
