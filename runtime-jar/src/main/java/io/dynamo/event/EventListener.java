package io.dynamo.event;

import io.dynamo.wire.event.EventEnvelope;
import java.util.function.Consumer;

/**
 * A listener that is also called when a publisher is found or lost, on planes that find publishers
 * one by one: in order with their events, and never dropped.
 */
public interface EventListener extends Consumer<EventEnvelope> {
  /**
   * Called when the subscription starts to listen to a publisher. Its first events may still be
   * missed, until the connection to it is up.
   */
  void publisherFound(long publisherId);

  /** Called when the publisher is gone; no more events follow from it, unless it is found again. */
  void publisherLost(long publisherId);
}
