package io.dynamo.router.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.event.EventHistory;
import io.dynamo.event.EventPlane;
import io.dynamo.event.EventSubject;
import io.dynamo.event.StoredPosition;
import io.dynamo.event.UnreadableSnapshotException;
import io.dynamo.kv.KvEventSource;
import io.dynamo.kv.RankEvent;
import io.dynamo.wire.event.EventEnvelope;
import io.dynamo.wire.kv.KvEventCodec;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A store within this process; delivers on command. */
final class FakeHistory implements EventHistory {
  private final EventSubject only;
  final TreeMap<Long, EventEnvelope> events = new TreeMap<>();
  final List<Listener> listeners = new ArrayList<>();
  @Nullable Snapshot snapshot;
  long life = 1;
  long last;
  int threshold = 1000;
  boolean away;
  boolean unreadable; // the snapshot

  FakeHistory(EventSubject subject) {
    this.only = subject;
  }

  void publish(long publisher, RankEvent... more) {
    var event =
        new EventEnvelope(publisher, 0, 0, KvEventSource.TOPIC, KvEventCodec.encode(List.of(more)));
    events.put(++last, event);
    listeners.forEach(listener -> listener.event(at(last), event));
  }

  StoredPosition at(long number) {
    return new StoredPosition(life, number);
  }

  void makeAnew() {
    events.clear();
    life++;
    last = 0;
    listeners.forEach(Listener::gap);
    listeners.forEach(Listener::caughtUp);
  }

  private void requireThere() throws IOException {
    if (away) {
      throw new IOException("away, says the test");
    }
  }

  @Override
  public boolean stores(EventSubject subject) {
    return subject.equals(only);
  }

  @Override
  public EventPlane.Subscription replay(
      EventSubject subject, StoredPosition position, Listener listener) {
    assertThat(position.life()).isEqualTo(life);
    events
        .tailMap(position.number(), false)
        .forEach((number, event) -> listener.event(at(number), event));
    listeners.add(listener);
    return () -> listeners.remove(listener);
  }

  @Override
  public Span span(EventSubject subject) throws IOException {
    requireThere();
    return new Span(life, events.isEmpty() ? last + 1 : events.firstKey(), last, events.size());
  }

  @Override
  public @Nullable Snapshot snapshot(EventSubject subject) throws IOException {
    requireThere();
    if (unreadable) {
      throw new UnreadableSnapshotException("says no position, says the test");
    }
    return snapshot;
  }

  @Override
  public boolean save(EventSubject subject, Snapshot next) throws IOException {
    requireThere();
    snapshot = next;
    unreadable = false;
    return true;
  }

  @Override
  public long purge(EventSubject subject, StoredPosition position) {
    assertThat(position.life()).isEqualTo(life);
    long before = events.size();
    events.headMap(position.number(), true).clear();
    return before - events.size();
  }

  @Override
  public long snapshotThreshold() {
    return threshold;
  }

  @Override
  public void reset(EventSubject subject) {
    events.clear();
    snapshot = null;
  }
}
