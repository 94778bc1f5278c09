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
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Hears every publisher of a subject that discovery knows, a connection for each. The discovery
 * thread tells it, the loop's thread connects and disconnects.
 */
final class ZmqSubscription implements EventPlane.Subscription {
  private static final System.Logger LOG = System.getLogger(ZmqSubscription.class.getName());

  private static final Duration RECONNECT_DELAY = Duration.ofSeconds(3);

  /** A publisher as discovery has it, and the connection to it, once there is one. */
  private static final class Heard {
    final String endpoint;
    @Nullable PublisherConnection connection;
    long next = PublisherConnection.UNKNOWN; // sequence expected of the next connection
    int attempt; // of connecting; tells the words of one socket from those of another
    boolean linked;
    boolean complained;

    Heard(String endpoint) {
      this.endpoint = endpoint;
    }
  }

  private final EventSubject subject;
  private final SocketLoop loop;
  private final ZmqSockets sockets;
  private final Executor threads;
  private final EventDelivery delivery;
  private final Metrics.Counter malformed;
  private final Metrics.Counter missed;
  private final Consumer<ZmqSubscription> onClose;
  private final Map<Long, Heard> publishers = new HashMap<>(); // by the loop only
  private final AtomicBoolean closed = new AtomicBoolean();
  private volatile Discovery.@Nullable Handle watch;

  /**
   * @param threads for looking up host names
   */
  ZmqSubscription(
      EventSubject subject,
      SocketLoop loop,
      ZmqSockets sockets,
      Executor threads,
      EventDelivery delivery,
      Metrics metrics,
      Consumer<ZmqSubscription> onClose) {
    this.subject = subject;
    this.loop = loop;
    this.sockets = sockets;
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
    if (closed.get() || (known != null && known.endpoint.equals(endpoint))) {
      return;
    }
    lost(id);
    var heard = new Heard(endpoint);
    publishers.put(id, heard);
    delivery.publisherFound(id);
    reach(id, heard);
  }

  /** Looks the publisher's host up and connects; again and again until it works or it has gone. */
  private void reach(long id, Heard heard) {
    if (closed.get() || publishers.get(id) != heard) {
      return;
    }
    PeerAddress address;
    try {
      address = PeerAddress.parse(heard.endpoint);
    } catch (IllegalArgumentException e) {
      complain(id, heard, e); // nothing mends it but another record
      return;
    }
    if (address.isLiteral()) {
      connect(id, heard, address);
    } else {
      // a name may take long to look up: not on this thread
      threads.execute(
          () -> {
            try {
              var resolved = address.resolved();
              loop.execute(() -> connect(id, heard, resolved));
            } catch (IllegalArgumentException e) {
              loop.execute(() -> unreachable(id, heard, e));
            }
          });
    }
  }

  private void connect(long id, Heard heard, PeerAddress address) {
    if (closed.get() || publishers.get(id) != heard) {
      return; // gone meanwhile
    }
    try {
      int attempt = ++heard.attempt;
      heard.linked = false;
      var socket =
          sockets.subscriber(
              subject.topic(), address, up -> loop.execute(() -> linked(id, heard, attempt, up)));
      var connection =
          new PublisherConnection(
              subject, id, heard.endpoint, loop, socket, delivery, malformed, missed, heard.next);
      heard.connection = connection;
      connection.open();
    } catch (RuntimeException e) {
      unreachable(id, heard, e);
    }
  }

  /**
   * The library connects again by itself what was cut, but not what has broken the protocol: one
   * event that is too large would silence its publisher for ever. What is not back soon is
   * connected anew.
   */
  private void linked(long id, Heard heard, int attempt, boolean up) {
    if (heard.attempt != attempt) {
      return; // a word of the socket before
    }
    heard.linked = up;
    if (!up) {
      loop.executeAfter(
          RECONNECT_DELAY,
          () -> {
            var connection = heard.connection;
            if (heard.attempt == attempt
                && !heard.linked
                && connection != null
                && publishers.get(id) == heard) {
              connection.finish();
              heard.next = connection.expected();
              heard.connection = null;
              reach(id, heard);
            }
          });
    }
  }

  private void unreachable(long id, Heard heard, RuntimeException why) {
    complain(id, heard, why);
    loop.executeAfter(RECONNECT_DELAY, () -> reach(id, heard));
  }

  /** Logs once per publisher. */
  private void complain(long id, Heard heard, RuntimeException why) {
    if (!heard.complained) {
      heard.complained = true;
      LOG.log(
          Level.WARNING,
          "publisher %x of %s is not heard: cannot connect to %s"
              .formatted(id, subject, heard.endpoint),
          why);
    }
  }

  private void lost(long id) {
    var heard = publishers.remove(id);
    if (heard == null) {
      return;
    }
    if (heard.connection != null) {
      heard.connection.finish();
    }
    delivery.publisherLost(id);
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
          for (var heard : publishers.values()) {
            if (heard.connection != null) {
              heard.connection.close();
            }
          }
          publishers.clear();
        });
  }
}
