package io.dynamo.event;

import io.dynamo.wire.event.EventEnvelope;
import java.util.function.Consumer;

/**
 * A listener that is also called when a publisher comes or goes, where a plane finds publishers one
 * by one: in order with their events, and never dropped.
 */
public interface EventListener extends Consumer<EventEnvelope> {
  /**
   * The subscription listens to this publisher from now on. Its first events may still be missed,
   * until the connection to it is up.
   */
  void publisherFound(long publisherId);

  /** The publisher is gone; nothing more of it follows, unless it is found again. */
  void publisherLost(long publisherId);
}
