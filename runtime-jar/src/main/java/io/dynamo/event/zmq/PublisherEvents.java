package io.dynamo.event.zmq;

import io.dynamo.event.EventDelivery;
import io.dynamo.event.EventSubject;
import io.dynamo.metrics.Metrics;
import java.io.IOException;

/**
 * Receives the events of one publisher; events of others are dropped as malformed. Used by the
 * loop's thread only.
 */
final class PublisherEvents extends Messages {
  /** The sequence number expected next from a publisher, across all connections to it. */
  static final class Expected {
    private static final long UNKNOWN = -1;

    private long sequence = UNKNOWN;

    /** Notes the arrival of event {@code next}; returns how many events are missing before it. */
    long missedBefore(long next) {
      long missed = sequence != UNKNOWN && next > sequence ? next - sequence : 0;
      sequence = next + 1;
      return missed;
    }
  }

  private final long publisherId;
  private final String topic;
  private final EventDelivery delivery;
  private final Metrics.Counter missed;
  private final Expected expected = new Expected();

  PublisherEvents(
      EventSubject subject,
      long publisherId,
      String endpoint,
      EventDelivery delivery,
      Metrics.Counter malformed,
      Metrics.Counter missed) {
    super(
        subject.toString(),
        "publisher " + Long.toHexString(publisherId) + " at " + endpoint,
        EventFrames.COUNT,
        malformed);
    this.publisherId = publisherId;
    this.topic = subject.topic();
    this.delivery = delivery;
    this.missed = missed;
  }

  @Override
  void receive(byte[][] frames) throws IOException {
    var event = EventFrames.read(frames, publisherId, topic);
    missed.add(expected.missedBefore(event.sequence()));
    delivery.event(event);
  }
}
