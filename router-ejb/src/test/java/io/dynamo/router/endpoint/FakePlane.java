package io.dynamo.router.endpoint;

import io.dynamo.event.EventListener;
import io.dynamo.event.EventPlane;
import io.dynamo.event.EventSubject;
import io.dynamo.wire.event.EventEnvelope;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * An event plane that the test controls: published events wait until the test delivers them, and
 * the test publishes for others. Listeners run on the test's thread.
 */
public final class FakePlane implements EventPlane {
  private record Subscriber(EventSubject subject, Consumer<EventEnvelope> listener) {}

  private final List<Subscriber> subscribers = new ArrayList<>();
  private final List<EventEnvelope> published = new ArrayList<>();
  private final List<EventEnvelope> waiting = new ArrayList<>();
  private final List<EventSubject> publishers = new ArrayList<>(); // the open ones
  private long lastPublisher;

  /** Returns all published events. */
  public List<EventEnvelope> published() {
    return published;
  }

  /** Returns the published events that are not delivered; the test may reorder and remove them. */
  public List<EventEnvelope> waiting() {
    return waiting;
  }

  /** Returns the subjects of the open publishers. */
  public List<EventSubject> publishing() {
    return publishers;
  }

  /** Returns the subjects with a subscriber. */
  public List<EventSubject> subscribed() {
    return subscribers.stream().map(Subscriber::subject).toList();
  }

  /** Returns the listeners of {@code topic}. */
  public List<Consumer<EventEnvelope>> listeners(String topic) {
    return subscribers.stream()
        .filter(one -> one.subject.topic().equals(topic))
        .map(Subscriber::listener)
        .toList();
  }

  /** Delivers the waiting events to all listeners, those of the publisher's own side, too. */
  public void deliver() {
    var now = List.copyOf(waiting);
    waiting.clear();
    now.forEach(this::deliver);
  }

  public void deliver(EventEnvelope envelope) {
    listeners(envelope.topic()).forEach(listener -> listener.accept(envelope));
  }

  /** Publishes as another router or worker would, and delivers the event. */
  public void tell(long publisher, String topic, byte[] payload) {
    deliver(new EventEnvelope(publisher, 0, 0, topic, payload));
  }

  private void lose(long publisher) {
    for (var one : List.copyOf(subscribers)) {
      if (one.listener instanceof EventListener listener) {
        listener.publisherLost(publisher);
      }
    }
  }

  @Override
  public Publisher publisher(EventSubject subject) {
    long id = ++lastPublisher;
    publishers.add(subject);
    return new Publisher() {
      private long sequence;

      @Override
      public long id() {
        return id;
      }

      @Override
      public void publish(byte[] payload) {
        var envelope = new EventEnvelope(id, sequence++, 0, subject.topic(), payload);
        published.add(envelope);
        waiting.add(envelope);
      }

      @Override
      public void close() {
        publishers.remove(subject);
        lose(id);
      }
    };
  }

  @Override
  public Subscription subscribe(EventSubject subject, Consumer<EventEnvelope> listener) {
    var one = new Subscriber(subject, listener);
    subscribers.add(one);
    return () -> subscribers.remove(one);
  }

  @Override
  public void close() {}
}
