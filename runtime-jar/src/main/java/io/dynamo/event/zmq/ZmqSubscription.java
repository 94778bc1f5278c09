package io.dynamo.event.zmq;

import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.EventChannel;
import io.dynamo.discovery.EventTransport;
import io.dynamo.event.EventDelivery;
import io.dynamo.event.EventPlane;
import io.dynamo.event.EventSubject;
import io.dynamo.metrics.EventMetrics;
import io.dynamo.metrics.Metrics;
import io.dynamo.pipeline.zmtp.ZmtpLoop;
import java.lang.System.Logger.Level;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A subscription to every publisher of a subject in discovery, with a connection for each. The
 * discovery thread reports publishers; the loop's thread connects and disconnects.
 */
final class ZmqSubscription implements EventPlane.Subscription {
  private static final System.Logger LOG = System.getLogger(ZmqSubscription.class.getName());

  private final EventSubject subject;
  private final ZmtpLoop loop;
  private final int maxMessageBytes;
  private final Executor threads;
  private final EventDelivery delivery;
  private final Metrics.Counter malformed;
  private final Metrics.Counter missed;
  private final Consumer<ZmqSubscription> onClose;
  private final Map<Long, PeerLink> publishers = new HashMap<>(); // this and next: by the loop only
  private final Map<Long, PeerLink> leaving = new HashMap<>(); // lost, with messages still arriving
  private final AtomicBoolean closed = new AtomicBoolean();
  private volatile Discovery.@Nullable Handle watch;

  /**
   * @param threads runs lookups of host names
   */
  ZmqSubscription(
      EventSubject subject,
      int maxMessageBytes,
      ZmtpLoop loop,
      Executor threads,
      EventDelivery delivery,
      Metrics metrics,
      Consumer<ZmqSubscription> onClose) {
    this.subject = subject;
    this.loop = loop;
    this.maxMessageBytes = maxMessageBytes;
    this.threads = threads;
    this.delivery = delivery;
    this.malformed = metrics.counter(EventMetrics.DROPPED, EventMetrics.MALFORMED);
    this.missed = metrics.counter(EventMetrics.DROPPED, EventMetrics.MISSED);
    this.onClose = onClose;
  }

  void open(Discovery discovery) {
    watch = discovery.watch(EventChannel.class, this::onChannel);
  }

  private void onChannel(DiscoveryEvent<EventChannel> event) {
    switch (event) {
      case DiscoveryEvent.Added<EventChannel> added -> {
        if (isOurs(added.record())) {
          loop.execute(() -> found(added.record()));
        }
      }
      case DiscoveryEvent.Lost<EventChannel> lost -> {
        if (isOurs(lost.record())) {
          loop.execute(() -> lost(lost.record().publisherId()));
        }
      }
    }
  }

  private boolean isOurs(EventChannel channel) {
    return channel.topic().equals(subject.topic()) && channel.scope().equals(subject.scope());
  }

  private void found(EventChannel channel) {
    long id = channel.publisherId();
    if (!(channel.transport() instanceof EventTransport.Zmq(String endpoint))) {
      LOG.log(
          Level.WARNING,
          "publisher {0} of {1} is not heard: it does not speak ZeroMQ but {2}",
          Long.toHexString(id),
          subject,
          channel.transport());
      return;
    }
    var known = publishers.get(id);
    if (closed.get() || (known != null && known.endpoint().equals(endpoint))) {
      return;
    }
    lost(id);
    end(id);
    var link =
        PeerLink.ofSubscriber(
            "publisher %x of %s".formatted(id, subject),
            endpoint,
            EventFrames.topic(subject.topic()),
            maxMessageBytes,
            loop,
            threads,
            new PublisherEvents(subject, id, endpoint, delivery, malformed, missed),
            new PeerLink.Watcher() {
              @Override
              public void up() {
                delivery.linked(publisher -> publisher == id);
              }

              @Override
              public void cut() {
                delivery.cut(publisher -> publisher == id);
              }
            });
    publishers.put(id, link);
    delivery.publisherFound(id);
    link.open();
  }

  private void lost(long id) {
    var link = publishers.remove(id);
    if (link != null) {
      leaving.put(id, link);
      link.finish(
          () -> {
            leaving.remove(id);
            delivery.publisherLost(id);
          });
    }
  }

  /** Closes the old link of a publisher that is back before its last messages have arrived. */
  private void end(long id) {
    var link = leaving.get(id);
    if (link != null) {
      link.close();
    }
  }

  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    onClose.accept(this);
    var watching = watch;
    if (watching != null) {
      watching.close();
    }
    delivery.close();
    loop.execute(
        () -> {
          publishers.values().forEach(PeerLink::close);
          publishers.clear();
          List.copyOf(leaving.values()).forEach(PeerLink::close);
        });
  }
}
