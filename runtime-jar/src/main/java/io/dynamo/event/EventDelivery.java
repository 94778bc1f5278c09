package io.dynamo.event;

import io.dynamo.concurrent.SerialTasks;
import io.dynamo.metrics.EventMetrics;
import io.dynamo.metrics.Metrics;
import io.dynamo.wire.event.EventEnvelope;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.LongPredicate;

/**
 * The way of events to one listener: a bounded queue, drained by one thread that lives while there
 * is something to drain. Any thread may hand over; an event that finds the queue full is dropped
 * and counted, so that nobody waits for a slow listener.
 */
public final class EventDelivery {
  private final Consumer<EventEnvelope> listener;
  private final EventBudget budget;
  private final Metrics.Counter dropped;
  private final SerialTasks tasks;

  /**
   * @param listener called for publishers too when it is an {@link EventListener}, and for the way
   *     to them when it is a {@link LinkListener}
   * @param budget for the events that wait; of this alone
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

  /** Hands over an event; returns at once. */
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

  /** Tells of a publisher that has come; never dropped. */
  public void publisherFound(long publisherId) {
    if (listener instanceof EventListener all) {
      enqueue(() -> all.publisherFound(publisherId));
    }
  }

  /** Tells of a publisher that has gone; never dropped. */
  public void publisherLost(long publisherId) {
    if (listener instanceof EventListener all) {
      enqueue(() -> all.publisherLost(publisherId));
    }
  }

  /** Tells that these publishers are heard from now on; never dropped. */
  public void linked(LongPredicate publishers) {
    if (listener instanceof LinkListener all) {
      enqueue(() -> all.linked(publishers));
    }
  }

  /** Tells that these publishers are not heard; never dropped. */
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

  /** Stops delivery: the call under way ends, and no other follows. Idempotent. */
  public void close() {
    tasks.close();
  }
}
