package io.dynamo.event.nats;

import io.dynamo.concurrent.SerialTasks;
import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.EventChannel;
import io.dynamo.event.EventHistory;
import io.dynamo.event.EventPlane;
import io.dynamo.event.StoredPosition;
import io.dynamo.metrics.EventMetrics;
import io.dynamo.metrics.Metrics;
import io.dynamo.nats.NatsLink;
import io.dynamo.wire.event.EnvelopeCodec;
import io.dynamo.wire.event.EventEnvelope;
import io.nats.client.JetStreamApiException;
import io.nats.client.JetStreamSubscription;
import io.nats.client.Message;
import io.nats.client.PullSubscribeOptions;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A subscription to a stream by a durable pull consumer of its own. A virtual thread takes events
 * from the server and hands them to the listener's queue, of 256 events at most; an event is
 * acknowledged after the listener has handled it. Events arrive in the order of the stream: when a
 * delivery is lost on the way, or the server was away, the consumer is made again behind the last
 * event that arrived, and an event that comes twice is dropped.
 */
final class StoredSubscription implements EventPlane.Subscription, NatsLink.Watcher {
  /** The number of events that the server hands out at a time, and that wait for the listener. */
  static final int BATCH = 256;

  private static final System.Logger LOG = System.getLogger(StoredSubscription.class.getName());
  private static final Duration PULL = Duration.ofSeconds(1);
  private static final long BETWEEN_ATTEMPTS_MILLIS = 250;

  private final NatsLink link;
  private final EventStream stream;
  private final String consumer;
  private final StoredListener listener;
  private final Metrics.Counter malformed;
  private final Metrics.Counter missed;
  private final Consumer<StoredSubscription> onClose;
  private final SerialTasks tasks; // calls the listener
  private final Semaphore room = new Semaphore(BATCH);
  private final Semaphore ups = new Semaphore(0);
  private final CountDownLatch closing = new CountDownLatch(1);
  private final CountDownLatch end = new CountDownLatch(1);
  // by the tasks only
  private final KnownPublishers publishers = new KnownPublishers();
  private long handled; // number of the last event given to the listener
  private boolean warned;
  // by the reader only
  private @Nullable StoredPosition position; // of the last event that arrived; null at first
  private boolean behind; // whether the listener has yet to hear that it has all
  private boolean gapped; // whether events were gone since it had all
  private boolean failing;
  private volatile NatsLink.@Nullable Registration watch;
  private volatile Discovery.@Nullable Handle channels;

  /**
   * @param consumer its name at the server
   * @param position of the event before the first one; null begins with those yet to come
   * @param threads runs the reading and the listener
   */
  StoredSubscription(
      NatsLink link,
      EventStream stream,
      String consumer,
      @Nullable StoredPosition position,
      StoredListener listener,
      Executor threads,
      Metrics metrics,
      Consumer<StoredSubscription> onClose) {
    this.link = link;
    this.stream = stream;
    this.consumer = consumer;
    this.position = position;
    this.listener = listener;
    this.malformed = metrics.counter(EventMetrics.DROPPED, EventMetrics.MALFORMED);
    this.missed = metrics.counter(EventMetrics.DROPPED, EventMetrics.MISSED);
    this.onClose = onClose;
    this.tasks = SerialTasks.unbounded("the listener of stored " + stream.subject(), threads);
  }

  void open(Discovery discovery, Executor threads) {
    channels = discovery.watch(EventChannel.class, this::onChannel);
    watch = link.watch(this);
    threads.execute(this::read);
    if (closing.getCount() == 0) {
      release(); // a concurrent close may have missed them
    }
  }

  private void release() {
    var watching = watch;
    if (watching != null) {
      watching.close();
    }
    var watched = channels;
    if (watched != null) {
      watched.close();
    }
  }

  private void onChannel(DiscoveryEvent<EventChannel> event) {
    switch (event) {
      case DiscoveryEvent.Added<EventChannel>(var channel) when isOurs(channel) ->
          tasks.add(() -> found(channel.publisherId()));
      case DiscoveryEvent.Lost<EventChannel>(var channel) when isOurs(channel) ->
          tasks.add(() -> lost(channel.publisherId()));
      case DiscoveryEvent.Added<EventChannel> _, DiscoveryEvent.Lost<EventChannel> _ -> {}
    }
  }

  private boolean isOurs(EventChannel channel) {
    var subject = stream.subject();
    return channel.topic().equals(subject.topic()) && channel.scope().equals(subject.scope());
  }

  private void found(long publisher) {
    if (publishers.register(publisher)) {
      listener.found(publisher);
    }
  }

  private void lost(long publisher) {
    if (publishers.remove(publisher)) {
      listener.lost(publisher);
    }
  }

  @Override
  public void up() {
    ups.release();
  }

  @Override
  public void cut() {
    tasks.add(listener::cut);
  }

  private boolean isClosed() {
    return closing.getCount() == 0 || Thread.currentThread().isInterrupted();
  }

  private void read() {
    try {
      while (!isClosed()) {
        try {
          if (ups.tryAcquire(PULL.toMillis(), TimeUnit.MILLISECONDS)) {
            readUntilTheNextUp();
          }
        } catch (InterruptedException _) {
          Thread.currentThread().interrupt();
        }
      }
    } finally {
      end.countDown();
    }
  }

  /** Reads from one consumer after the other until the connection stands anew. */
  private void readUntilTheNextUp() throws InterruptedException {
    ups.drainPermits();
    while (!isClosed() && ups.availablePermits() == 0) {
      JetStreamSubscription pulled = null;
      try {
        pulled = begin();
        failing = false;
        readInOrder(pulled);
      } catch (IOException | JetStreamApiException | RuntimeException e) {
        if (isClosed()) {
          return;
        }
        report(e);
        boolean _ = closing.await(BETWEEN_ATTEMPTS_MILLIS, TimeUnit.MILLISECONDS);
      } finally {
        release(pulled);
      }
    }
  }

  private static void release(@Nullable JetStreamSubscription pulled) {
    if (pulled != null && pulled.isActive()) {
      try {
        pulled.unsubscribe();
      } catch (IllegalStateException _) {
        // the connection is closed, and all subscriptions with it
      }
    }
  }

  private void report(Exception failure) {
    boolean first = !failing && link.isUp();
    failing |= first;
    LOG.log(
        first ? Level.WARNING : Level.DEBUG,
        "stored events of " + stream.subject() + " cannot be read; trying again",
        failure);
  }

  private JetStreamSubscription begin() throws IOException, JetStreamApiException {
    var before = stream.span();
    var from = position == null ? new StoredPosition(before.life(), before.last()) : position;
    boolean isRestarted = from.life() != before.life() || from.number() > before.last();
    if (isRestarted) {
      from = restart(from, before);
    }
    var made = stream.startConsumer(consumer, from.number());
    behind = true;
    // after the consumer is there, behind which nothing is purged
    var span = stream.span();
    if (span.life() != from.life()) {
      throw new IOException("stream %s was made anew meanwhile".formatted(stream.name()));
    }
    if (!isRestarted && span.first() > from.number() + 1) {
      reportGap(from.number(), span.first());
    }
    position = new StoredPosition(span.life(), Math.max(from.number(), span.first() - 1));
    var pulled =
        link.connection()
            .jetStream(EventStream.OPTIONS)
            .subscribe(null, PullSubscribeOptions.fastBind(stream.name(), consumer));
    if (made.getNumPending() == 0) {
      catchUp();
    }
    return pulled;
  }

  /** Moves to the start of a stream that was made anew, or has lost its last events. */
  private StoredPosition restart(StoredPosition from, EventHistory.Span span) {
    LOG.log(
        Level.WARNING,
        from.life() == span.life()
            ? "stream {0} has lost events: it ends at {1}, and {2} was read before"
            : "stream {0} was made anew: it ends at {1}, and {2} of the one before was read",
        stream.name(),
        span.last(),
        from.number());
    var start = new StoredPosition(span.life(), 0);
    position = start;
    behind = true;
    tasks.add(() -> handled = 0);
    tasks.add(listener::gap);
    return start;
  }

  private void reportGap(long read, long next) {
    LOG.log(
        gapped ? Level.DEBUG : Level.WARNING,
        "events {0} to {1} of stream {2} are gone before they were read",
        read + 1,
        next - 1,
        stream.name());
    gapped = true;
    behind = true;
    tasks.add(listener::gap);
  }

  private void catchUp() {
    if (behind) {
      behind = false;
      gapped = false;
      tasks.add(listener::caughtUp);
    }
  }

  /** Returns when a delivery was lost, or the connection stands anew. */
  private void readInOrder(JetStreamSubscription pulled) throws IOException, InterruptedException {
    long life = Objects.requireNonNull(position).life();
    long next = 1;
    while (!isClosed() && ups.availablePermits() == 0) {
      var messages = pulled.iterate(BATCH, PULL);
      boolean any = false;
      while (messages.hasNext()) {
        var message = messages.next();
        var about = message.metaData();
        if (about.consumerSequence() != next++) {
          LOG.log(Level.DEBUG, "a delivery of {0} was lost; it is asked for again", consumer);
          return;
        }
        any = true;
        hand(message, new StoredPosition(life, about.streamSequence()));
        if (about.pendingCount() == 0) {
          catchUp();
        }
      }
      if (!any && link.isUp() && stream.pending(consumer) == 0) { // fails when it was deleted
        catchUp();
      }
    }
  }

  private void hand(Message message, StoredPosition at) throws InterruptedException {
    while (!room.tryAcquire(PULL.toMillis(), TimeUnit.MILLISECONDS)) {
      if (isClosed()) {
        return; // not acknowledged
      }
    }
    long before = position == null ? at.number() - 1 : position.number();
    if (at.number() > before + 1) {
      reportGap(before, at.number());
    }
    if (at.number() > before) { // one that comes again is not the last
      position = at;
    }
    if (!tasks.add(
        () -> {
          room.release();
          take(message, at);
        })) {
      room.release();
    }
  }

  private void take(Message message, StoredPosition at) {
    if (at.number() > handled) {
      handled = at.number();
      var event = decode(message.getData());
      if (event != null) {
        give(at, event);
      }
    }
    try {
      message.ack();
    } catch (IllegalStateException _) {
      // without a connection: it may come again, and is dropped then
    }
  }

  private void give(StoredPosition at, EventEnvelope event) {
    long id = event.publisherId();
    var expected = publishers.find(id);
    if (expected == null) {
      if (publishers.hasLeft(id)) {
        return;
      }
      expected = publishers.add(id);
      listener.found(id);
      var silent = publishers.removeExcess();
      if (silent != null) {
        listener.lost(silent);
      }
    }
    if (expected.hasPassed(event.sequence())) {
      return; // stored twice
    }
    missed.add(expected.missedBefore(event.sequence()));
    try {
      listener.event(at, event);
    } catch (RuntimeException failure) {
      LOG.log(
          Level.ERROR,
          "a listener of " + stream.subject() + " failed; the next event follows",
          failure);
    }
  }

  private @Nullable EventEnvelope decode(byte[] message) {
    try {
      var event = EnvelopeCodec.decode(ByteBuffer.wrap(message));
      if (event.topic().equals(stream.subject().topic())) {
        return event;
      }
      throw new IOException("the topic of its envelope is another");
    } catch (IOException e) {
      malformed.increment();
      if (!warned) {
        warned = true;
        LOG.log(
            Level.WARNING,
            "dropped a stored message of {0} that is no event: {1}; more of its kind are only"
                + " counted",
            stream.subject(),
            e.getMessage());
      }
      return null;
    }
  }

  @Override
  public void close() {
    if (closing.getCount() == 0) {
      return;
    }
    closing.countDown();
    onClose.accept(this);
    tasks.close();
    release();
  }

  /** Waits for the reader, and forgets the consumer at the server. */
  void awaitEnd(Duration limit) {
    try {
      if (end.await(limit.toNanos(), TimeUnit.NANOSECONDS) && link.isUp()) {
        stream.deleteConsumer(consumer);
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    } catch (IOException e) {
      LOG.log(Level.DEBUG, "consumer " + consumer + " is left to its inactivity", e);
    }
  }
}
