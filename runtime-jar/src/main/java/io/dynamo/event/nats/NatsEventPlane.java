package io.dynamo.event.nats;

import io.dynamo.concurrent.Deadline;
import io.dynamo.config.plane.EventSettings;
import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.EventChannel;
import io.dynamo.discovery.EventTransport;
import io.dynamo.event.EventBudget;
import io.dynamo.event.EventDelivery;
import io.dynamo.event.EventPlane;
import io.dynamo.event.EventSubject;
import io.dynamo.metrics.EventMetrics;
import io.dynamo.metrics.Metrics;
import io.dynamo.nats.NatsLink;
import io.dynamo.wire.event.EventEnvelope;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/**
 * The event plane over core NATS: all publishers of a subject share one NATS subject, and each
 * envelope carries its publisher's id. Events of one publisher arrive in order. While a publisher
 * has no connection its events wait in its bounded queue; events that are on the way when a server
 * dies, and events that reach the server while a subscriber has no connection, are lost and show as
 * a gap in sequences. Safe for concurrent use.
 */
public final class NatsEventPlane implements EventPlane {
  private static final long PUBLISHER_ID_BOUND = 1L << 53;
  private static final Duration LAST_EVENTS = Duration.ofSeconds(3);

  private final NatsLink link;
  private final Discovery discovery;
  private final EventSettings settings;
  private final Metrics metrics;
  private final RandomGenerator random;
  private final InstantSource clock;
  private final ExecutorService threads =
      Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("event-", 0).factory());
  private final Set<NatsPublisher> publishers = ConcurrentHashMap.newKeySet();
  private final Set<NatsSubscription> subscriptions = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  /**
   * @param link must outlive this plane, as must {@code discovery}
   * @param random source of publisher ids
   */
  public NatsEventPlane(
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

  /**
   * {@inheritDoc}
   *
   * <p>The publisher is in discovery when this returns.
   *
   * @throws IllegalStateException when the plane is closed
   */
  @Override
  public Publisher publisher(EventSubject subject) {
    requireOpen();
    long id = random.nextLong(PUBLISHER_ID_BOUND);
    var record =
        discovery.register(
            new EventChannel(
                subject.scope(),
                subject.topic(),
                id,
                new EventTransport.Nats(subject.scope().subject())));
    var text = subject.text();
    var publisher =
        new NatsPublisher(
            subject,
            id,
            link,
            (_, envelope) -> link.publish(text, envelope),
            record,
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

  @Override
  public Subscription subscribe(EventSubject subject, Consumer<EventEnvelope> listener) {
    requireOpen();
    var delivery = new EventDelivery(subject, listener, budget(), threads, metrics);
    var subscription =
        new NatsSubscription(
            subject,
            delivery,
            metrics.counter(EventMetrics.DROPPED, EventMetrics.MALFORMED),
            metrics.counter(EventMetrics.DROPPED, EventMetrics.MISSED),
            subscriptions::remove);
    subscriptions.add(subscription);
    subscription.open(link, discovery);
    if (closed) {
      subscription.close();
      requireOpen();
    }
    return subscription;
  }

  private EventBudget budget() {
    return new EventBudget(settings.queueCapacity(), settings.queueBytes());
  }

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("the event plane is closed");
    }
  }

  /** Sends the last events, removes the publishers from discovery and unsubscribes. Idempotent. */
  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    subscriptions.forEach(NatsSubscription::close);
    var last = List.copyOf(publishers);
    last.forEach(NatsPublisher::close);
    var patience = Deadline.after(LAST_EVENTS);
    last.forEach(publisher -> publisher.awaitEnd(patience));
    threads.shutdownNow();
  }
}
