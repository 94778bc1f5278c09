package io.dynamo.event.zmq;

import io.dynamo.event.EventBudget;
import java.lang.System.Logger.Level;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Tasks that run one at a time, in order, on a thread that is there while there are any: what hands
 * them over does not wait. Safe for concurrent use.
 */
final class InTurn {
  private static final System.Logger LOG = System.getLogger(InTurn.class.getName());

  private final EventBudget budget;
  private final Executor threads;
  private final Queue<Runnable> queue = new ConcurrentLinkedQueue<>();
  private final AtomicInteger waiting =
      new AtomicInteger(); // raised after a task is queued; whoever raises it from 0 runs them
  private volatile boolean ended;

  /**
   * @param budget for what is offered; of this alone
   */
  InTurn(EventBudget budget, Executor threads) {
    this.budget = budget;
    this.threads = threads;
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

  /** Takes a task whatever waits. */
  void add(Runnable task) {
    queue.add(task);
    if (waiting.getAndIncrement() == 0) {
      try {
        threads.execute(this::run);
      } catch (RejectedExecutionException _) {
        close(); // so are the threads
      }
    }
  }

  private void run() {
    do {
      var task = queue.poll();
      if (task != null && !ended) {
        try {
          task.run();
        } catch (RuntimeException | Error e) {
          LOG.log(Level.ERROR, "a listener failed; it goes on with the next", e);
        }
      }
    } while (waiting.decrementAndGet() > 0);
  }

  /** Nothing is begun after this. Idempotent. */
  void close() {
    ended = true;
    queue.clear();
  }
}
