package io.dynamo.event;

import io.dynamo.concurrent.SerialTasks;
import io.dynamo.metrics.EventMetrics;
import io.dynamo.metrics.Metrics;
import io.dynamo.wire.event.EventEnvelope;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.LongPredicate;

/**
 * Delivers events to one listener: a bounded queue, drained by one thread that exists while the
 * queue is not empty. Any thread may add events; an event that finds the queue full is dropped and
 * counted, so that no thread waits for a slow listener.
 */
public final class EventDelivery {
  private final Consumer<EventEnvelope> listener;
  private final EventBudget budget;
  private final Metrics.Counter dropped;
  private final SerialTasks tasks;

  /**
   * @param listener also called for publishers when it is an {@link EventListener}, and for the
   *     connections to them when it is a {@link LinkListener}
   * @param budget limit of the queued events; used by this queue alone
   * @param threads runs the draining
   */
  public EventDelivery(
      EventSubject subject,
      Consumer<EventEnvelope> listener,
      EventBudget budget,
      Executor threads,
      Metrics metrics) {
    this.listener = listener;
    this.budget = budget;
    this.dropped = metrics.counter(EventMetrics.DROPPED, EventMetrics.SUBSCRIPTION_FULL);
    this.tasks = SerialTasks.unbounded("the listener of " + subject, threads);
  }

  /** Queues an event; returns at once. */
  public void event(EventEnvelope event) {
    if (tasks.isClosed()) {
      return;
    }
    int bytes = event.payload().length;
    if (!budget.take(bytes)) {
      dropped.increment();
      return;
    }
    enqueue(
        () -> {
          budget.give(bytes);
          listener.accept(event);
        });
  }

  /** Reports a new publisher to the listener; never dropped. */
  public void publisherFound(long publisherId) {
    if (listener instanceof EventListener all) {
      enqueue(() -> all.publisherFound(publisherId));
    }
  }

  /** Reports a lost publisher to the listener; never dropped. */
  public void publisherLost(long publisherId) {
    if (listener instanceof EventListener all) {
      enqueue(() -> all.publisherLost(publisherId));
    }
  }

  /** Reports that these publishers are connected from now on; never dropped. */
  public void linked(LongPredicate publishers) {
    if (listener instanceof LinkListener all) {
      enqueue(() -> all.linked(publishers));
    }
  }

  /** Reports that these publishers are not connected; never dropped. */
  public void cut(LongPredicate publishers) {
    if (listener instanceof LinkListener all) {
      enqueue(() -> all.cut(publishers));
    }
  }

  private void enqueue(Runnable task) {
    if (!tasks.add(task)) {
      close(); // the plane was closed meanwhile, and its threads with it
    }
  }

  /** Stops delivery: a call in progress completes, and no other follows. Idempotent. */
  public void close() {
    tasks.close();
  }
}
