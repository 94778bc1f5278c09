package io.dynamo.event.local;

import io.dynamo.event.EventEnvelope;
import io.dynamo.event.EventPlane;
import io.dynamo.event.EventSubject;
import io.dynamo.metrics.MetricName;
import io.dynamo.metrics.Metrics;
import java.lang.System.Logger.Level;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/**
 * An event plane without a wire. A publisher hands each event to the bounded queue of every
 * subscription and goes on; a subscription drains its queue on a virtual thread that lives while
 * there is something to drain. An event that finds a queue full is lost to that subscription and
 * counted. Safe for concurrent use.
 */
public final class LocalEventPlane implements EventPlane {
  /** Events that a slow subscription lost. */
  public static final MetricName DROPPED =
      new MetricName(
          "dynamo_event_dropped_total", "Events lost because a subscription was too slow.");

  private static final System.Logger LOG = System.getLogger(LocalEventPlane.class.getName());
  private static final long PUBLISHER_ID_BOUND = 1L << 53;

  private final int queueCapacity;
  private final Metrics.Counter dropped;
  private final RandomGenerator random;
  private final InstantSource clock;
  private final ExecutorService threads =
      Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("event-", 0).factory());
  private final Map<EventSubject, List<LocalSubscription>> subscriptions =
      new ConcurrentHashMap<>();
  private volatile boolean closed;

  /**
   * @param queueCapacity events held per subscription
   * @param random for publisher ids
   */
  public LocalEventPlane(
      int queueCapacity, Metrics metrics, RandomGenerator random, InstantSource clock) {
    this.queueCapacity = queueCapacity;
    this.dropped = metrics.counter(DROPPED);
    this.random = random;
    this.clock = clock;
  }

  @Override
  public Publisher publisher(EventSubject subject) {
    requireOpen();
    return new LocalPublisher(subject, random.nextLong(PUBLISHER_ID_BOUND));
  }

  @Override
  public Subscription subscribe(EventSubject subject, Consumer<EventEnvelope> listener) {
    requireOpen();
    var subscription = new LocalSubscription(subject, listener);
    subscriptions.computeIfAbsent(subject, _ -> new CopyOnWriteArrayList<>()).add(subscription);
    return subscription;
  }

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("the event plane is closed");
    }
  }

  @Override
  public void close() {
    closed = true;
    subscriptions.values().forEach(all -> all.forEach(LocalSubscription::close));
    subscriptions.clear();
    threads.shutdownNow();
  }

  private final class LocalPublisher implements Publisher {
    private final EventSubject subject;
    private final long id;
    private long sequence;
    private boolean ended;

    LocalPublisher(EventSubject subject, long id) {
      this.subject = subject;
      this.id = id;
    }

    @Override
    public long id() {
      return id;
    }

    @Override
    public void publish(byte[] payload) {
      requireOpen();
      if (ended) {
        throw new IllegalStateException("the publisher of " + subject + " is closed");
      }
      long number = sequence++;
      long now = clock.millis();
      for (var subscription : subscriptions.getOrDefault(subject, List.of())) {
        subscription.offer(new EventEnvelope(id, number, now, subject.topic(), payload.clone()));
      }
    }

    @Override
    public void close() {
      ended = true;
    }
  }

  private final class LocalSubscription implements Subscription {
    private final EventSubject subject;
    private final Consumer<EventEnvelope> listener;
    private final ArrayBlockingQueue<EventEnvelope> queue = new ArrayBlockingQueue<>(queueCapacity);
    private final AtomicInteger work =
        new AtomicInteger(); // drain passes owed; the publisher that raises it from 0 starts one
    private volatile boolean ended;

    LocalSubscription(EventSubject subject, Consumer<EventEnvelope> listener) {
      this.subject = subject;
      this.listener = listener;
    }

    void offer(EventEnvelope event) {
      if (ended) {
        return;
      }
      if (!queue.offer(event)) {
        dropped.increment();
        return;
      }
      if (work.getAndIncrement() == 0) {
        try {
          threads.execute(this::drain);
        } catch (RejectedExecutionException _) {
          ended = true; // the plane was closed meanwhile
        }
      }
    }

    private void drain() {
      int passes = work.get();
      while (passes != 0) {
        for (var event = queue.poll(); event != null && !ended; event = queue.poll()) {
          tell(event);
        }
        passes = work.addAndGet(-passes);
      }
    }

    private void tell(EventEnvelope event) {
      try {
        listener.accept(event);
      } catch (RuntimeException e) {
        LOG.log(Level.ERROR, "a listener of " + subject + " failed; it goes on with the next", e);
      }
    }

    @Override
    public void close() {
      ended = true;
      queue.clear();
      var all = subscriptions.get(subject);
      if (all != null) {
        all.remove(this);
      }
    }
  }
}
