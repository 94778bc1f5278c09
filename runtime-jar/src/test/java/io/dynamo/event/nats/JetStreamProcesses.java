package io.dynamo.event.nats;

import io.dynamo.concurrent.Alarms;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.memory.MemoryDiscovery;
import io.dynamo.discovery.memory.MemoryStore;
import io.dynamo.event.EventHistory;
import io.dynamo.event.EventPlane;
import io.dynamo.event.EventSubject;
import io.dynamo.event.StoredPosition;
import io.dynamo.event.Until;
import io.dynamo.metrics.Metrics;
import io.dynamo.nats.NatsLink;
import io.dynamo.testing.NatsServer;
import io.dynamo.testing.Recorder;
import io.dynamo.testing.TestSettings;
import io.dynamo.wire.event.EventEnvelope;
import io.nats.client.Connection;
import io.nats.client.JetStreamManagement;
import io.nats.client.Nats;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Processes on one discovery and one NATS server that stores the events of one subject. */
final class JetStreamProcesses implements AutoCloseable {
  private final MemoryStore store = new MemoryStore();
  private final Random random = new Random(1);
  private final List<AutoCloseable> owned = new ArrayList<>();
  private final NatsServer server;
  private final EventSubject subject;
  private final int capacity;
  private long processes;

  /**
   * @param capacity events that a publisher holds
   */
  JetStreamProcesses(NatsServer server, EventSubject subject, int capacity) {
    this.server = server;
    this.subject = subject;
    this.capacity = capacity;
  }

  /** Another process. */
  JetStreamEventPlane join(
      Map<String, String> more, Alarms outages, Metrics metrics, InstantSource clock) {
    var values =
        new HashMap<>(
            Map.of(
                "dynamo.event.plane",
                "nats",
                "dynamo.nats.jetstream.kv-events",
                "true",
                "dynamo.nats.servers",
                server.url(),
                "dynamo.event.queue-capacity",
                String.valueOf(capacity)));
    values.putAll(more);
    var settings = TestSettings.with(values);
    var link = owned(NatsLink.open(settings.nats(), outages));
    return owned(
        new JetStreamEventPlane(
            link,
            new MemoryDiscovery(store, new InstanceId(++processes)),
            settings.event(),
            Objects.requireNonNull(settings.nats().storage()),
            Set.of(subject.topic()),
            metrics,
            random,
            clock));
  }

  private <T extends AutoCloseable> T owned(T one) {
    owned.add(one);
    return one;
  }

  /** A connection of a process that is not ours. */
  Connection connection() throws IOException, InterruptedException {
    return owned(Nats.connect(server.url()));
  }

  JetStreamManagement management() throws IOException, InterruptedException {
    return connection().jetStreamManagement();
  }

  /** The position of an event in the stream that there is now. */
  StoredPosition at(EventHistory history, long number) throws IOException {
    return new StoredPosition(history.span(subject).life(), number);
  }

  EventPlane.Subscription replay(
      JetStreamEventPlane plane, long number, EventHistory.Listener listener) {
    try {
      return plane.replay(subject, at(plane, number), listener);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  EventHistory.Snapshot snapshot(EventHistory history, long number, byte[] content)
      throws IOException {
    return new EventHistory.Snapshot(at(history, number), content);
  }

  /** Waits until the stream has its event at {@code last}. */
  void awaitStored(EventHistory history, long last) {
    Until.holds(
        () -> {
          try {
            return history.span(subject).last() == last;
          } catch (IOException _) {
            return false; // asked again
          }
        });
  }

  @Override
  public void close() {
    for (var one : owned.reversed()) {
      close(one);
    }
    server.close();
  }

  @SuppressWarnings("try") // an interrupt is passed on
  private static void close(AutoCloseable one) {
    try {
      one.close();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (Exception e) {
      throw new IllegalStateException("a process of the test does not close", e);
    }
  }

  /** Hears stored events with their positions, and what happens to the connection. */
  static class History implements EventHistory.Listener {
    final Recorder<EventEnvelope> events = new Recorder<>();
    final Recorder<Long> positions = new Recorder<>();
    final Recorder<String> states = new Recorder<>();

    @Override
    public void event(StoredPosition position, EventEnvelope event) {
      positions.accept(position.number());
      events.accept(event);
    }

    @Override
    public void gap() {
      states.accept("gap");
    }

    @Override
    public void caughtUp() {
      states.accept("caught up");
    }

    @Override
    public void cut() {
      states.accept("cut");
    }
  }

  /** Is stuck in its first event until it is released. */
  static final class StuckHistory extends History {
    final CountDownLatch begun = new CountDownLatch(1);
    final CountDownLatch release = new CountDownLatch(1);

    @Override
    public void event(StoredPosition position, EventEnvelope event) {
      begun.countDown();
      try {
        if (!release.await(120, TimeUnit.SECONDS)) {
          throw new AssertionError("the test has not released its listener");
        }
      } catch (InterruptedException _) {
        Thread.currentThread().interrupt();
      }
      super.event(position, event);
    }
  }
}
