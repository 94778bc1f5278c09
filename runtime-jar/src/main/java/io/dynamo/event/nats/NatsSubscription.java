package io.dynamo.event.nats;

import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.EventChannel;
import io.dynamo.discovery.EventTransport;
import io.dynamo.event.EventDelivery;
import io.dynamo.event.EventPlane;
import io.dynamo.event.EventSubject;
import io.dynamo.metrics.Metrics;
import io.dynamo.nats.NatsLink;
import io.dynamo.wire.event.EnvelopeCodec;
import io.dynamo.wire.event.EventEnvelope;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A subscription to one NATS subject. Discovery reports its publishers; one that is not in
 * discovery is found with its first event. The thread of the client library delivers events, the
 * discovery thread publishers; a lock keeps both in order.
 */
final class NatsSubscription implements EventPlane.Subscription, NatsLink.Watcher {
  private static final System.Logger LOG = System.getLogger(NatsSubscription.class.getName());

  private final EventSubject subject;
  private final EventDelivery delivery;
  private final Metrics.Counter malformed;
  private final Metrics.Counter missed;
  private final Consumer<NatsSubscription> onClose;
  private final Object lock = new Object();
  private final KnownPublishers publishers = new KnownPublishers(); // guarded by lock
  private boolean warned; // guarded by lock
  private boolean closed; // guarded by lock
  private NatsLink.@Nullable Registration messages; // guarded by lock
  private NatsLink.@Nullable Registration watch; // guarded by lock
  private Discovery.@Nullable Handle channels; // guarded by lock

  NatsSubscription(
      EventSubject subject,
      EventDelivery delivery,
      Metrics.Counter malformed,
      Metrics.Counter missed,
      Consumer<NatsSubscription> onClose) {
    this.subject = subject;
    this.delivery = delivery;
    this.malformed = malformed;
    this.missed = missed;
    this.onClose = onClose;
  }

  void open(NatsLink link, Discovery discovery) {
    var watchedChannels = discovery.watch(EventChannel.class, this::onChannel);
    var subscribed = link.subscribe(subject.text(), this::onMessage);
    var watched = link.watch(this);
    boolean late;
    synchronized (lock) {
      channels = watchedChannels;
      messages = subscribed;
      watch = watched;
      late = closed;
    }
    if (late) {
      release();
    }
  }

  private void onChannel(DiscoveryEvent<EventChannel> event) {
    switch (event) {
      case DiscoveryEvent.Added<EventChannel> added -> {
        if (isOurs(added.record())) {
          found(added.record());
        }
      }
      case DiscoveryEvent.Lost<EventChannel> lost -> {
        if (isOurs(lost.record())) {
          lost(lost.record().publisherId());
        }
      }
    }
  }

  private boolean isOurs(EventChannel channel) {
    return channel.topic().equals(subject.topic()) && channel.scope().equals(subject.scope());
  }

  private void found(EventChannel channel) {
    long id = channel.publisherId();
    if (!(channel.transport() instanceof EventTransport.Nats)) {
      LOG.log(
          Level.WARNING,
          "publisher {0} of {1} is not heard: it does not speak NATS but {2}",
          Long.toHexString(id),
          subject,
          channel.transport());
      return;
    }
    synchronized (lock) {
      if (publishers.register(id)) {
        delivery.publisherFound(id);
      }
    }
  }

  private void lost(long id) {
    synchronized (lock) {
      if (publishers.remove(id)) {
        delivery.publisherLost(id);
      }
    }
  }

  private void onMessage(byte[] message) {
    EventEnvelope event;
    try {
      event = EnvelopeCodec.decode(ByteBuffer.wrap(message));
      if (!event.topic().equals(subject.topic())) {
        throw new IOException("the topic of its envelope is another");
      }
    } catch (IOException e) {
      drop(e);
      return;
    }
    synchronized (lock) {
      long id = event.publisherId();
      var expected = publishers.find(id);
      if (expected == null) {
        if (publishers.hasLeft(id)) {
          return;
        }
        expected = heardFirst(id);
      }
      missed.add(expected.missedBefore(event.sequence()));
      delivery.event(event);
    }
  }

  private KnownPublishers.Expected heardFirst(long id) {
    var expected = publishers.add(id);
    delivery.publisherFound(id);
    var silent = publishers.removeExcess();
    if (silent != null) {
      delivery.publisherLost(silent);
    }
    return expected;
  }

  private void drop(IOException why) {
    malformed.increment();
    boolean first;
    synchronized (lock) {
      first = !warned;
      warned = true;
    }
    if (first) {
      LOG.log(
          Level.WARNING,
          "dropped a message of {0} that is no event: {1}; more of its kind are only counted",
          subject,
          why.getMessage());
    }
  }

  @Override
  public void up() {
    delivery.linked(_ -> true);
  }

  @Override
  public void cut() {
    delivery.cut(_ -> true);
  }

  @Override
  public void close() {
    synchronized (lock) {
      if (closed) {
        return;
      }
      closed = true;
    }
    onClose.accept(this);
    delivery.close();
    release();
  }

  private void release() {
    NatsLink.Registration subscribed;
    NatsLink.Registration watched;
    Discovery.Handle watchedChannels;
    synchronized (lock) {
      subscribed = messages;
      watched = watch;
      watchedChannels = channels;
      messages = null;
      watch = null;
      channels = null;
    }
    if (subscribed != null) {
      subscribed.close();
    }
    if (watched != null) {
      watched.close();
    }
    if (watchedChannels != null) {
      watchedChannels.close();
    }
  }
}
