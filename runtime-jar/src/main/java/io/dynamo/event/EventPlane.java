package io.dynamo.event;

import io.dynamo.wire.event.EventEnvelope;
import java.util.function.Consumer;

/**
 * Publishes to, and hears, subjects. Delivery is at most once; a slow subscriber loses events and
 * shows as a gap in sequences.
 */
public interface EventPlane extends AutoCloseable {
  /** Writes to one subject. Not safe for concurrent use. */
  interface Publisher extends AutoCloseable {
    long id();

    /** Sends without waiting for anybody. */
    void publish(byte[] payload);

    @Override
    void close();
  }

  /** Ends when closed. Idempotent. */
  interface Subscription extends AutoCloseable {
    @Override
    void close();
  }

  Publisher publisher(EventSubject subject);

  /**
   * Calls {@code listener} for each event from now on, one at a time per subscription, on a thread
   * of the plane. An {@link EventListener} is called for publishers too, a {@link LinkListener} of
   * the way to them.
   */
  Subscription subscribe(EventSubject subject, Consumer<EventEnvelope> listener);

  @Override
  void close();
}
