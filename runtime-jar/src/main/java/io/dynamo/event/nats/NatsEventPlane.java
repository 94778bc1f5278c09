package io.dynamo.event.nats;

import io.dynamo.config.plane.EventSettings;
import io.dynamo.discovery.Discovery;
import io.dynamo.event.EventDelivery;
import io.dynamo.event.EventPlane;
import io.dynamo.event.EventSubject;
import io.dynamo.metrics.EventMetrics;
import io.dynamo.metrics.Metrics;
import io.dynamo.nats.NatsLink;
import io.dynamo.wire.event.EventEnvelope;
import java.time.InstantSource;
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
  private final NatsLink link;
  private final Discovery discovery;
  private final Metrics metrics;
  private final PlaneMembers<NatsSubscription> members;

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
    this.metrics = metrics;
    this.members = new PlaneMembers<>(link, discovery, settings, metrics, random, clock);
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
    var text = subject.text();
    return members.publisher(subject, _ -> (_, envelope) -> link.publish(text, envelope));
  }

  @Override
  public Subscription subscribe(EventSubject subject, Consumer<EventEnvelope> listener) {
    members.requireOpen();
    var subscription =
        new NatsSubscription(
            subject,
            new EventDelivery(subject, listener, members.budget(), members.threads(), metrics),
            metrics.counter(EventMetrics.DROPPED, EventMetrics.MALFORMED),
            metrics.counter(EventMetrics.DROPPED, EventMetrics.MISSED),
            members::remove);
    return members.subscribe(subscription, () -> subscription.open(link, discovery));
  }

  /** Sends the last events, removes the publishers from discovery and unsubscribes. Idempotent. */
  @Override
  public void close() {
    boolean _ = members.close((_, _) -> {});
  }
}
