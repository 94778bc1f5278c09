package io.dynamo.event;

import io.dynamo.wire.event.EventEnvelope;
import java.util.function.Consumer;
import java.util.function.LongPredicate;

/**
 * A listener that is also called when the connections to publishers are cut and made again, where
 * events come over connections: in order with the events, and never dropped. Publishers are named
 * by their ids; those that a broker stands for are all of them.
 */
public interface LinkListener extends Consumer<EventEnvelope> {
  /**
   * The way is there, for the first time or again. What was published while it was not does not
   * come, nor does what is published before the subscription takes effect, a moment from now.
   */
  void linked(LongPredicate publishers);

  /** For some seconds now there has been no way; nothing is heard until there is one. */
  void cut(LongPredicate publishers);
}
