package io.dynamo.event;

import io.dynamo.wire.event.EventEnvelope;
import java.util.function.Consumer;

/**
 * Publishes events to subjects and subscribes to them. Delivery is at most once; a slow subscriber
 * loses events and sees a gap in sequences.
 */
public interface EventPlane extends AutoCloseable {
  /** Publishes to one subject. Not safe for concurrent use. */
  interface Publisher extends AutoCloseable {
    long id();

    /** Publishes an event without waiting for any subscriber. */
    void publish(byte[] payload);

    @Override
    void close();
  }

  /** A running subscription, ended by closing it. Idempotent. */
  interface Subscription extends AutoCloseable {
    @Override
    void close();
  }

  Publisher publisher(EventSubject subject);

  /**
   * Calls {@code listener} for each event from now on, one at a time per subscription, on a thread
   * of the plane. An {@link EventListener} is also called for publishers, a {@link LinkListener}
   * for the connections to them.
   */
  Subscription subscribe(EventSubject subject, Consumer<EventEnvelope> listener);

  @Override
  void close();
}
