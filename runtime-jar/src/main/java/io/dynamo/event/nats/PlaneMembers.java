package io.dynamo.event.nats;

import io.dynamo.concurrent.Deadline;
import io.dynamo.config.plane.EventSettings;
import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.EventChannel;
import io.dynamo.discovery.EventTransport;
import io.dynamo.event.AnnouncedPublisher;
import io.dynamo.event.EventBudget;
import io.dynamo.event.EventPlane;
import io.dynamo.event.EventSubject;
import io.dynamo.metrics.Metrics;
import io.dynamo.nats.NatsLink;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.BiConsumer;
import java.util.function.LongFunction;
import java.util.random.RandomGenerator;

/**
 * The open publishers and subscriptions of a plane over NATS, and the threads that serve them until
 * the plane is closed. Safe for concurrent use.
 */
final class PlaneMembers<S extends EventPlane.Subscription> {
  /** How long the end of a plane or of a subscription waits for the server. */
  static final Duration LAST_EVENTS = Duration.ofSeconds(3);

  private static final long PUBLISHER_ID_BOUND = 1L << 53;

  private final NatsLink link;
  private final Discovery discovery;
  private final EventSettings settings;
  private final Metrics metrics;
  private final RandomGenerator random;
  private final InstantSource clock;
  private final ExecutorService threads =
      Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("event-", 0).factory());
  private final Set<NatsPublisher> publishers = ConcurrentHashMap.newKeySet();
  private final Set<S> subscriptions = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  /**
   * @param random source of publisher ids
   */
  PlaneMembers(
      NatsLink link,
      Discovery discovery,
      EventSettings settings,
      Metrics metrics,
      RandomGenerator random,
      InstantSource clock) {
    this.link = link;
    this.discovery = discovery;
    this.settings = settings;
    this.metrics = metrics;
    this.random = random;
    this.clock = clock;
  }

  ExecutorService threads() {
    return threads;
  }

  /** Returns the room of one queue. */
  EventBudget budget() {
    return new EventBudget(settings.queueCapacity(), settings.queueBytes());
  }

  /**
   * @throws IllegalStateException when the plane is closed
   */
  void requireOpen() {
    if (closed) {
      throw new IllegalStateException("the event plane is closed");
    }
  }

  /**
   * Opens a publisher, which is in discovery when this returns.
   *
   * @param senders makes the way to the server of a publisher with an id
   */
  EventPlane.Publisher publisher(EventSubject subject, LongFunction<NatsPublisher.Sender> senders) {
    requireOpen();
    long id = random.nextLong(PUBLISHER_ID_BOUND);
    var record =
        discovery.register(
            new EventChannel(
                subject.scope(),
                subject.topic(),
                id,
                new EventTransport.Nats(subject.scope().subject())));
    var publisher =
        new NatsPublisher(
            new AnnouncedPublisher(subject, id, record),
            link,
            senders.apply(id),
            budget(),
            threads,
            metrics,
            clock,
            publishers::remove);
    publishers.add(publisher);
    publisher.open();
    if (closed) {
      publisher.close(); // a concurrent close may have missed it
      requireOpen();
    }
    return publisher;
  }

  /** Keeps a subscription, which {@code open} opens, until it is closed. */
  S subscribe(S subscription, Runnable open) {
    subscriptions.add(subscription);
    open.run();
    if (closed) {
      subscription.close(); // a concurrent close may have missed it
      requireOpen();
    }
    return subscription;
  }

  /** Forgets a subscription that has been closed; returns whether it was closed by itself. */
  boolean remove(S subscription) {
    return subscriptions.remove(subscription) && !closed;
  }

  /**
   * Sends the last events, removes the publishers from discovery and closes the subscriptions.
   *
   * @param awaitEnd waits for what a closed subscription leaves at the server
   * @return false when this was closed already
   */
  boolean close(BiConsumer<S, Deadline> awaitEnd) {
    synchronized (this) {
      if (closed) {
        return false;
      }
      closed = true;
    }
    var listening = List.copyOf(subscriptions);
    listening.forEach(EventPlane.Subscription::close);
    var last = List.copyOf(publishers);
    last.forEach(NatsPublisher::close);
    var patience = Deadline.after(LAST_EVENTS);
    last.forEach(publisher -> publisher.awaitEnd(patience));
    listening.forEach(one -> awaitEnd.accept(one, patience));
    threads.shutdownNow();
    return true;
  }
}
