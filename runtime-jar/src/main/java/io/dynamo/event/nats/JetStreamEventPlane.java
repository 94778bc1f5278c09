package io.dynamo.event.nats;

import io.dynamo.concurrent.Deadline;
import io.dynamo.config.plane.EventSettings;
import io.dynamo.config.plane.NatsSettings.EventStorage;
import io.dynamo.discovery.Discovery;
import io.dynamo.event.EventHistory;
import io.dynamo.event.EventPlane;
import io.dynamo.event.EventSubject;
import io.dynamo.event.StoredPosition;
import io.dynamo.metrics.Metrics;
import io.dynamo.nats.NatsLink;
import io.dynamo.wire.event.EventEnvelope;
import io.nats.client.JetStreamApiException;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The event plane over NATS whose events of some topics are stored by JetStream; other topics use
 * core NATS. What a publisher could hand to its queue is stored once and in order, also across
 * deaths of the server, and a subscription gets all of it while the stream has it: a slow listener
 * delays its own events and loses none. Safe for concurrent use.
 */
public final class JetStreamEventPlane implements EventPlane, EventHistory {
  private final NatsLink link;
  private final Discovery discovery;
  private final EventStorage storage;
  private final Set<String> topics;
  private final Metrics metrics;
  private final EventPlane others;
  private final PlaneMembers<StoredSubscription> members;
  private final Set<EventSubject> read = ConcurrentHashMap.newKeySet(); // whose snapshots were read
  private final AtomicLong consumers = new AtomicLong();

  /**
   * @param link must outlive this plane, as must {@code discovery}
   * @param topics those that are stored
   * @param random source of publisher ids
   * @throws IllegalStateException when the server has no JetStream
   */
  public JetStreamEventPlane(
      NatsLink link,
      Discovery discovery,
      EventSettings settings,
      EventStorage storage,
      Set<String> topics,
      Metrics metrics,
      RandomGenerator random,
      InstantSource clock) {
    requireJetStream(link);
    this.link = link;
    this.discovery = discovery;
    this.storage = storage;
    this.topics = Set.copyOf(topics);
    this.metrics = metrics;
    this.members = new PlaneMembers<>(link, discovery, settings, metrics, random, clock);
    this.others = new NatsEventPlane(link, discovery, settings, metrics, random, clock);
  }

  private static void requireJetStream(NatsLink link) {
    try {
      var _ = link.connection().jetStreamManagement(EventStream.OPTIONS).getAccountStatistics();
    } catch (IOException | JetStreamApiException e) {
      throw new IllegalStateException(
          "the NATS server at %s stores no events: %s; start it with JetStream (nats-server -js), or leave dynamo.nats.jetstream.kv-events out"
              .formatted(link.connection().getConnectedUrl(), e.getMessage()),
          e);
    }
  }

  private EventStream stream(EventSubject subject) {
    return new EventStream(link, subject, storage);
  }

  private SnapshotBucket bucket(EventSubject subject) {
    return new SnapshotBucket(link, stream(subject));
  }

  @Override
  public boolean stores(EventSubject subject) {
    return topics.contains(subject.topic());
  }

  /**
   * {@inheritDoc}
   *
   * <p>The publisher is in discovery when this returns.
   *
   * @throws IllegalStateException when the plane is closed
   */
  @Override
  public Publisher publisher(EventSubject subject) {
    members.requireOpen();
    return stores(subject)
        ? members.publisher(subject, id -> new StoredSending(link, stream(subject), id))
        : others.publisher(subject);
  }

  @Override
  public Subscription subscribe(EventSubject subject, Consumer<EventEnvelope> listener) {
    members.requireOpen();
    return stores(subject)
        ? open(subject, null, StoredListener.of(listener))
        : others.subscribe(subject, listener);
  }

  @Override
  public Subscription replay(
      EventSubject subject, StoredPosition position, EventHistory.Listener listener) {
    members.requireOpen();
    return open(requireStored(subject), position, StoredListener.of(listener));
  }

  private Subscription open(
      EventSubject subject, @Nullable StoredPosition position, StoredListener listener) {
    var name = discovery.instanceId().hex() + "-" + consumers.incrementAndGet();
    var subscription =
        new StoredSubscription(
            link,
            stream(subject),
            name,
            position,
            listener,
            members.threads(),
            metrics,
            ended -> {
              if (members.remove(ended)) {
                members.threads().execute(() -> ended.awaitEnd(PlaneMembers.LAST_EVENTS));
              }
            });
    return members.subscribe(subscription, () -> subscription.open(discovery, members.threads()));
  }

  private EventSubject requireStored(EventSubject subject) {
    if (!stores(subject)) {
      throw new IllegalArgumentException(
          "events of %s are not stored, but those of %s".formatted(subject, topics));
    }
    return subject;
  }

  @Override
  public Span span(EventSubject subject) throws IOException {
    return stream(requireStored(subject)).span();
  }

  @Override
  public @Nullable Snapshot snapshot(EventSubject subject) throws IOException {
    if (storage.reset() && !read.contains(subject)) {
      reset(subject);
    }
    read.add(subject);
    return bucket(requireStored(subject)).read();
  }

  @Override
  public boolean save(EventSubject subject, Snapshot snapshot) throws IOException {
    return bucket(requireStored(subject)).write(snapshot);
  }

  @Override
  public long purge(EventSubject subject, StoredPosition position) throws IOException {
    return stream(requireStored(subject)).purge(position);
  }

  @Override
  public long snapshotThreshold() {
    return storage.snapshotThreshold();
  }

  @Override
  public void reset(EventSubject subject) throws IOException {
    stream(requireStored(subject)).purgeAll();
    bucket(subject).delete();
  }

  /** Stores the last events, removes the publishers from discovery and unsubscribes. Idempotent. */
  @Override
  public void close() {
    if (members.close((one, patience) -> one.awaitEnd(left(patience)))) {
      others.close();
    }
  }

  private static Duration left(Deadline patience) {
    return Duration.ofNanos(Math.max(0, patience.remainingNanos()));
  }
}
