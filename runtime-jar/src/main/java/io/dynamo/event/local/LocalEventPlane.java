package io.dynamo.event.local;

import io.dynamo.event.EventBudget;
import io.dynamo.event.EventDelivery;
import io.dynamo.event.EventPlane;
import io.dynamo.event.EventSubject;
import io.dynamo.metrics.Metrics;
import io.dynamo.wire.event.EventEnvelope;
import java.time.InstantSource;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/**
 * An event plane inside one process. A publisher adds each event to the bounded queue of every
 * subscription and goes on; a subscription drains its queue on a virtual thread that exists while
 * the queue is not empty. An event that finds a queue full is lost to that subscription and
 * counted. Safe for concurrent use.
 */
public final class LocalEventPlane implements EventPlane {
  private static final long PUBLISHER_ID_BOUND = 1L << 53;

  private final int queueCapacity;
  private final long queueBytes;
  private final Metrics metrics;
  private final RandomGenerator random;
  private final InstantSource clock;
  private final ExecutorService threads =
      Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("event-", 0).factory());
  private final Map<EventSubject, CopyOnWriteArrayList<LocalSubscription>> subscriptions =
      new ConcurrentHashMap<>();
  private final Set<LocalPublisher> publishers = new LinkedHashSet<>(); // guarded by itself
  private volatile boolean closed;

  /**
   * @param queueCapacity limit of the queued events per subscription
   * @param queueBytes limit of the bytes of their payloads
   * @param random source of publisher ids
   */
  public LocalEventPlane(
      int queueCapacity,
      long queueBytes,
      Metrics metrics,
      RandomGenerator random,
      InstantSource clock) {
    this.queueCapacity = queueCapacity;
    this.queueBytes = queueBytes;
    this.metrics = metrics;
    this.random = random;
    this.clock = clock;
  }

  @Override
  public Publisher publisher(EventSubject subject) {
    requireOpen();
    var publisher = new LocalPublisher(subject, random.nextLong(PUBLISHER_ID_BOUND));
    synchronized (publishers) {
      publishers.add(publisher);
      subscriptions(subject).forEach(all -> all.delivery.publisherFound(publisher.id));
    }
    return publisher;
  }

  @Override
  public Subscription subscribe(EventSubject subject, Consumer<EventEnvelope> listener) {
    requireOpen();
    var subscription = new LocalSubscription(subject, listener);
    synchronized (publishers) {
      for (var publisher : publishers) {
        if (publisher.subject.equals(subject)) {
          subscription.delivery.publisherFound(publisher.id);
        }
      }
      subscriptions.compute(
          subject,
          (_, known) -> {
            var all = known == null ? new CopyOnWriteArrayList<LocalSubscription>() : known;
            all.add(subscription);
            return all;
          });
    }
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
    subscriptions.values().forEach(all -> all.forEach(each -> each.delivery.close()));
    subscriptions.clear();
    threads.shutdownNow();
  }

  private List<LocalSubscription> subscriptions(EventSubject subject) {
    List<LocalSubscription> all = subscriptions.get(subject);
    return all == null ? List.of() : all;
  }

  private final class LocalPublisher implements Publisher {
    private final EventSubject subject;
    private final long id;
    private long sequence;
    private volatile boolean ended;

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
      for (var subscription : subscriptions(subject)) {
        subscription.delivery.event(
            new EventEnvelope(id, number, now, subject.topic(), payload.clone()));
      }
    }

    @Override
    public void close() {
      synchronized (publishers) {
        ended = true;
        if (publishers.remove(this)) {
          subscriptions(subject).forEach(all -> all.delivery.publisherLost(id));
        }
      }
    }
  }

  private final class LocalSubscription implements Subscription {
    private final EventSubject subject;
    private final EventDelivery delivery;

    LocalSubscription(EventSubject subject, Consumer<EventEnvelope> listener) {
      this.subject = subject;
      this.delivery =
          new EventDelivery(
              subject, listener, new EventBudget(queueCapacity, queueBytes), threads, metrics);
    }

    @Override
    public void close() {
      delivery.close();
      subscriptions.computeIfPresent(
          subject,
          (_, all) -> {
            all.remove(this);
            return all.isEmpty() ? null : all;
          });
    }
  }
}
