package io.dynamo.event.zmq;

import io.dynamo.config.EventSettings;
import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.EventChannel;
import io.dynamo.discovery.EventTransport;
import io.dynamo.event.EventBudget;
import io.dynamo.event.EventDelivery;
import io.dynamo.event.EventEnvelope;
import io.dynamo.event.EventPlane;
import io.dynamo.event.EventSubject;
import io.dynamo.metrics.EventMetrics;
import io.dynamo.metrics.Metrics;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/**
 * Events over ZeroMQ. Without a broker a publisher binds and is found through discovery, and a
 * subscription connects to every publisher of its subject; with brokers both connect to all of
 * them, and discovery knows nothing of it. A subscription hears what is published once its
 * connection is up; what it missed shows as a gap in sequences, is counted, and does not come
 * again. Safe for concurrent use.
 */
public final class ZmqEventPlane implements EventPlane {
  private static final long PUBLISHER_ID_BOUND = 1L << 53;
  private static final Duration BIND_PATIENCE = Duration.ofSeconds(10);
  private static final Duration CLOSE_PATIENCE = Duration.ofSeconds(6);

  private final Discovery discovery;
  private final EventSettings settings;
  private final Metrics metrics;
  private final RandomGenerator random;
  private final InstantSource clock;
  private final ZmqSockets sockets;
  private final SocketLoop sending;
  private final SocketLoop receiving;
  private final ExecutorService threads =
      Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("event-", 0).factory());
  private final Set<ZmqPublisher> publishers = ConcurrentHashMap.newKeySet();
  private final Set<ZmqSubscription> subscriptions = ConcurrentHashMap.newKeySet();
  private final Set<BrokerSubscription> brokered = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  /**
   * @param discovery must outlive this plane
   * @param random for publisher ids
   */
  public ZmqEventPlane(
      Discovery discovery,
      EventSettings settings,
      Metrics metrics,
      RandomGenerator random,
      InstantSource clock) {
    this.discovery = discovery;
    this.settings = settings;
    this.metrics = metrics;
    this.random = random;
    this.clock = clock;
    this.sockets = new ZmqSockets(settings);
    this.sending = new SocketLoop("event-zmq-send");
    this.receiving = new SocketLoop("event-zmq-receive");
  }

  /**
   * {@inheritDoc}
   *
   * <p>It is bound and in discovery when this returns, unless there is a broker.
   *
   * @throws IllegalStateException when the plane is closed or its address cannot be bound
   */
  @Override
  public Publisher publisher(EventSubject subject) {
    requireOpen();
    long id = random.nextLong(PUBLISHER_ID_BOUND);
    var broker = settings.zmqBroker();
    if (broker != null) { // which tells subscribers, so that discovery need not
      var addresses =
          broker.xsub().stream().map(address -> PeerAddress.parse(address).resolved()).toList();
      var socket =
          sending.call(() -> owned(sockets.publisher(addresses)), BIND_PATIENCE, this::unbind);
      return opened(subject, EventFrames.subject(subject), id, socket, () -> {});
    }
    var socket = sending.call(() -> owned(sockets.publisher()), BIND_PATIENCE, this::unbind);
    Discovery.Handle record;
    try {
      record =
          discovery.register(
              new EventChannel(
                  subject.scope(),
                  subject.topic(),
                  id,
                  new EventTransport.Zmq(sockets.advertised(socket).endpoint())));
    } catch (RuntimeException e) {
      sending.execute(() -> unbind(socket));
      throw e;
    }
    return opened(subject, subject.topic(), id, socket, record);
  }

  private Publisher opened(
      EventSubject subject,
      String firstFrame,
      long id,
      PublisherSocket socket,
      Discovery.Handle record) {
    var publisher =
        new ZmqPublisher(
            subject,
            firstFrame,
            id,
            sending,
            socket,
            record,
            budget(),
            metrics.counter(EventMetrics.DROPPED, EventMetrics.PUBLISHER_FULL),
            clock,
            publishers::remove);
    publishers.add(publisher);
    if (closed) {
      publisher.close(); // the close may not have seen it
      requireOpen();
    }
    return publisher;
  }

  private PublisherSocket owned(PublisherSocket socket) {
    sending.own(socket, socket.signal());
    return socket;
  }

  private void unbind(PublisherSocket socket) {
    sending.disown(socket, socket.signal());
    socket.close();
  }

  @Override
  public Subscription subscribe(EventSubject subject, Consumer<EventEnvelope> listener) {
    requireOpen();
    var delivery = new EventDelivery(subject, listener, budget(), threads, metrics);
    var broker = settings.zmqBroker();
    if (broker != null) {
      var subscription =
          new BrokerSubscription(
              subject, broker, receiving, sockets, threads, delivery, metrics, brokered::remove);
      brokered.add(subscription);
      subscription.open();
      if (closed) {
        subscription.close();
        requireOpen();
      }
      return subscription;
    }
    var subscription =
        new ZmqSubscription(
            subject, receiving, sockets, threads, delivery, metrics, subscriptions::remove);
    subscriptions.add(subscription);
    subscription.open(discovery);
    if (closed) {
      subscription.close();
      requireOpen();
    }
    return subscription;
  }

  private EventBudget budget() {
    return new EventBudget(settings.queueCapacity(), settings.queueBytes());
  }

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("the event plane is closed");
    }
  }

  /** Takes the publishers out of discovery, closes all sockets and ends the threads. Idempotent. */
  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    subscriptions.forEach(ZmqSubscription::close);
    brokered.forEach(BrokerSubscription::close);
    publishers.forEach(ZmqPublisher::close);
    sockets.closeAfter(CLOSE_PATIENCE, sending, receiving);
    threads.shutdownNow();
  }
}
