package io.dynamo.event.zmq;

import io.dynamo.config.plane.ZmqBroker;
import io.dynamo.event.EventDelivery;
import io.dynamo.event.EventPlane;
import io.dynamo.event.EventSubject;
import io.dynamo.metrics.EventMetrics;
import io.dynamo.metrics.Metrics;
import io.dynamo.pipeline.zmtp.ZmtpLoop;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * A subscription to a subject through brokers. It keeps no list of publishers: one counts as found
 * with its first event, and as lost when many others have been received since. An event that
 * arrives through several brokers is delivered once. Used by the loop's thread only.
 */
final class BrokerSubscription implements EventPlane.Subscription {
  static final int MAX_PUBLISHERS = 10_000;

  /** The number of remembered events, by which duplicates are dropped: Dynamo's bound. */
  static final int REMEMBERED = 100_000;

  private record EventId(long publisherId, long sequence) {}

  private final EventSubject subject;
  private final byte[] subjectFrame;
  private final boolean many;
  private final ZmtpLoop loop;
  private final EventDelivery delivery;
  private final Metrics.Counter malformed;
  private final Metrics.Counter missed;
  private final Consumer<BrokerSubscription> onClose;
  private final List<PeerLink> links = new ArrayList<>(); // this and below: by the loop only
  private final Map<Long, PublisherEvents.Expected> publishers =
      new LinkedHashMap<>(16, 0.75f, true); // longest silent first
  private final Map<EventId, Boolean> heard = new LinkedHashMap<>(); // oldest first
  private final AtomicBoolean closed = new AtomicBoolean();

  /**
   * @param threads runs lookups of host names
   */
  BrokerSubscription(
      EventSubject subject,
      ZmqBroker broker,
      int maxMessageBytes,
      ZmtpLoop loop,
      Executor threads,
      EventDelivery delivery,
      Metrics metrics,
      Consumer<BrokerSubscription> onClose) {
    var whole = EventFrames.subject(subject);
    this.subject = subject;
    this.subjectFrame = EventFrames.topic(whole);
    this.many = broker.xpub().size() > 1;
    this.loop = loop;
    this.delivery = delivery;
    this.malformed = metrics.counter(EventMetrics.DROPPED, EventMetrics.MALFORMED);
    this.missed = metrics.counter(EventMetrics.DROPPED, EventMetrics.MISSED);
    this.onClose = onClose;
    var ways = new BrokerWays(() -> delivery.linked(_ -> true), () -> delivery.cut(_ -> true));
    for (var endpoint : broker.xpub()) {
      links.add(
          PeerLink.ofSubscriber(
              "a broker of " + subject,
              endpoint,
              subjectFrame,
              maxMessageBytes,
              loop,
              threads,
              new FromBroker(endpoint),
              ways.add()));
    }
  }

  void open() {
    loop.execute(() -> links.forEach(PeerLink::open));
  }

  private final class FromBroker extends Messages {
    FromBroker(String endpoint) {
      super(subject.toString(), "the broker at " + endpoint, EventFrames.COUNT, malformed);
    }

    @Override
    void receive(byte[][] frames) throws IOException {
      if (!Arrays.equals(frames[0], subjectFrame)) {
        return; // a longer subject with the same prefix
      }
      var event = EventFrames.read(frames, EventFrames.number(frames[1]), subject.topic());
      if (many && isKnown(new EventId(event.publisherId(), event.sequence()))) {
        return;
      }
      missed.add(expected(event.publisherId()).missedBefore(event.sequence()));
      delivery.event(event);
    }
  }

  private boolean isKnown(EventId event) {
    if (heard.putIfAbsent(event, Boolean.TRUE) != null) {
      return true;
    }
    if (heard.size() > REMEMBERED) {
      heard.remove(heard.keySet().iterator().next());
    }
    return false;
  }

  private PublisherEvents.Expected expected(long publisherId) {
    var known = publishers.get(publisherId);
    if (known != null) {
      return known;
    }
    var found = new PublisherEvents.Expected();
    publishers.put(publisherId, found);
    delivery.publisherFound(publisherId);
    if (publishers.size() > MAX_PUBLISHERS) {
      long silent = publishers.keySet().iterator().next();
      publishers.remove(silent);
      delivery.publisherLost(silent);
    }
    return found;
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      onClose.accept(this);
      delivery.close();
      loop.execute(() -> links.forEach(PeerLink::close));
    }
  }
}
