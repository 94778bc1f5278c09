package io.dynamo.event;

import io.dynamo.metrics.EventMetrics;
import io.dynamo.metrics.Metrics;
import io.dynamo.wire.event.EventEnvelope;
import java.lang.System.Logger.Level;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.LongPredicate;

/**
 * The way of events to one listener: a bounded queue, drained by one thread that lives while there
 * is something to drain. Any thread may hand over; an event that finds the queue full is dropped
 * and counted, so that nobody waits for a slow listener.
 */
public final class EventDelivery {
  /** What waits in the queue. */
  private sealed interface News {
    record Arrived(EventEnvelope event) implements News {}

    record Found(long publisherId) implements News {}

    record Lost(long publisherId) implements News {}

    record Linked(LongPredicate publishers) implements News {}

    record Cut(LongPredicate publishers) implements News {}
  }

  private static final System.Logger LOG = System.getLogger(EventDelivery.class.getName());

  private final EventSubject subject;
  private final Consumer<EventEnvelope> listener;
  private final EventBudget budget;
  private final Executor threads;
  private final Metrics.Counter dropped;
  private final Queue<News> queue = new ConcurrentLinkedQueue<>();
  private final AtomicInteger waiting =
      new AtomicInteger(); // raised after an entry is queued; whoever raises it from 0 drains
  private volatile boolean ended;

  /**
   * @param listener told of publishers too when it is an {@link EventListener}, and of the way to
   *     them when it is a {@link LinkListener}
   * @param budget for the events that wait; of this alone
   * @param threads runs the draining
   */
  public EventDelivery(
      EventSubject subject,
      Consumer<EventEnvelope> listener,
      EventBudget budget,
      Executor threads,
      Metrics metrics) {
    this.subject = subject;
    this.listener = listener;
    this.budget = budget;
    this.threads = threads;
    this.dropped = metrics.counter(EventMetrics.DROPPED, EventMetrics.SUBSCRIPTION_FULL);
  }

  /** Hands over an event; returns at once. */
  public void event(EventEnvelope event) {
    if (ended) {
      return;
    }
    if (!budget.take(event.payload().length)) {
      dropped.increment();
      return;
    }
    enqueue(new News.Arrived(event));
  }

  /** Tells of a publisher that has come; never dropped. */
  public void publisherFound(long publisherId) {
    enqueue(new News.Found(publisherId));
  }

  /** Tells of a publisher that has gone; never dropped. */
  public void publisherLost(long publisherId) {
    enqueue(new News.Lost(publisherId));
  }

  /** Tells that these publishers are heard from now on; never dropped. */
  public void linked(LongPredicate publishers) {
    enqueue(new News.Linked(publishers));
  }

  /** Tells that these publishers are not heard; never dropped. */
  public void cut(LongPredicate publishers) {
    enqueue(new News.Cut(publishers));
  }

  private void enqueue(News news) {
    if (ended) {
      return;
    }
    queue.add(news);
    if (waiting.getAndIncrement() == 0) {
      try {
        threads.execute(this::drain);
      } catch (RejectedExecutionException _) {
        close(); // the plane was closed meanwhile
      }
    }
  }

  private void drain() {
    do {
      var news = queue.poll();
      if (news instanceof News.Arrived(var event)) {
        budget.give(event.payload().length);
      }
      if (news != null && !ended) {
        tell(news);
      }
    } while (waiting.decrementAndGet() > 0);
  }

  private void tell(News news) {
    try {
      switch (news) {
        case News.Arrived arrived -> listener.accept(arrived.event);
        case News.Found found -> {
          if (listener instanceof EventListener all) {
            all.publisherFound(found.publisherId);
          }
        }
        case News.Lost lost -> {
          if (listener instanceof EventListener all) {
            all.publisherLost(lost.publisherId);
          }
        }
        case News.Linked linked -> {
          if (listener instanceof LinkListener all) {
            all.linked(linked.publishers);
          }
        }
        case News.Cut cut -> {
          if (listener instanceof LinkListener all) {
            all.cut(cut.publishers);
          }
        }
      }
    } catch (RuntimeException | Error e) {
      LOG.log(Level.ERROR, "a listener of " + subject + " failed; it goes on with the next", e);
    }
  }

  /** Nothing is told after this but what is being told. Idempotent. */
  public void close() {
    ended = true;
    queue.clear();
  }
}
