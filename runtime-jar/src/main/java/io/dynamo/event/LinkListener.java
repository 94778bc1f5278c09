package io.dynamo.event;

import io.dynamo.wire.event.EventEnvelope;
import java.util.function.Consumer;
import java.util.function.LongPredicate;

/**
 * A listener that is also called when connections to publishers are cut and restored, on planes
 * that use connections: in order with the events, and never dropped. Publishers are given as a
 * predicate of their ids; a broker stands for all of them.
 */
public interface LinkListener extends Consumer<EventEnvelope> {
  /**
   * Called when the connection is up, for the first time or again. Events published while it was
   * down do not arrive, nor do those published before the subscription takes effect, a moment from
   * now.
   */
  void linked(LongPredicate publishers);

  /**
   * Called when the connection has been down for some seconds; no events arrive until it is up
   * again.
   */
  void cut(LongPredicate publishers);
}
