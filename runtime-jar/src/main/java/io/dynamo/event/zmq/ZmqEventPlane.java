package io.dynamo.event.zmq;

import io.dynamo.config.plane.EventSettings;
import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.EventChannel;
import io.dynamo.discovery.EventTransport;
import io.dynamo.event.AnnouncedPublisher;
import io.dynamo.event.EventBudget;
import io.dynamo.event.EventDelivery;
import io.dynamo.event.EventPlane;
import io.dynamo.event.EventSubject;
import io.dynamo.metrics.EventMetrics;
import io.dynamo.metrics.Metrics;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.pipeline.zmtp.ZmtpLimits;
import io.dynamo.pipeline.zmtp.ZmtpLoop;
import io.dynamo.pipeline.zmtp.ZmtpPublisher;
import io.dynamo.wire.event.EventEnvelope;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/**
 * The event plane over ZeroMQ. Without a broker, a publisher binds a socket and is found through
 * discovery, and a subscription connects to every publisher of its subject; with brokers, both
 * connect to all brokers, and discovery is not used. A subscription receives events published once
 * its connection is up; missed events show as a gap in sequences, are counted, and do not come
 * again. Safe for concurrent use.
 */
public final class ZmqEventPlane implements EventPlane {
  private static final long PUBLISHER_ID_BOUND = 1L << 53;
  private static final int MAX_SUBSCRIPTION_BYTES = 4096;
  private static final long MAX_WAITING_BYTES = 16 << 20; // limit for one subscriber

  private final Discovery discovery;
  private final EventSettings settings;
  private final Metrics metrics;
  private final RandomGenerator random;
  private final InstantSource clock;
  private final EventLoops loops;
  private final ExecutorService threads =
      Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("event-", 0).factory());
  private final Set<ZmqPublisher> publishers = ConcurrentHashMap.newKeySet();
  private final Set<ZmqSubscription> subscriptions = ConcurrentHashMap.newKeySet();
  private final Set<BrokerSubscription> brokered = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  /**
   * @param discovery must outlive this plane, as must {@code loops}
   * @param random source of publisher ids
   */
  public ZmqEventPlane(
      Discovery discovery,
      EventSettings settings,
      EventLoops loops,
      Metrics metrics,
      RandomGenerator random,
      InstantSource clock) {
    this.discovery = discovery;
    this.settings = settings;
    this.loops = loops;
    this.metrics = metrics;
    this.random = random;
    this.clock = clock;
  }

  /**
   * {@inheritDoc}
   *
   * <p>The publisher is bound and in discovery when this returns, unless there is a broker.
   *
   * @throws IllegalStateException when the plane is closed or its address cannot be bound
   */
  @Override
  public Publisher publisher(EventSubject subject) {
    requireOpen();
    long id = random.nextLong(PUBLISHER_ID_BOUND);
    var loop = ZmtpLoop.of(loops);
    var dropped = metrics.counter(EventMetrics.DROPPED, EventMetrics.SUBSCRIBER_SLOW);
    var limits =
        new ZmtpLimits(MAX_SUBSCRIPTION_BYTES, settings.zmqHighWaterMark(), MAX_WAITING_BYTES);
    var broker = settings.zmqBroker();
    if (broker != null) { // brokers inform subscribers, so discovery need not
      var socket = ZmtpPublisher.unbound(limits, dropped::increment);
      var links =
          broker.xsub().stream()
              .map(
                  endpoint ->
                      PeerLink.ofPublisher(
                          "a broker of " + subject, endpoint, loop, threads, socket))
              .toList();
      loop.execute(() -> links.forEach(PeerLink::open));
      return opened(
          new AnnouncedPublisher(subject, id, () -> {}),
          EventFrames.subject(subject),
          new ZmqPublisher.Output(loop, socket, links));
    }
    var bind = new InetSocketAddress(InetAddress.ofLiteral(settings.zmqBind()), 0);
    var socket = ZmtpPublisher.bound(loops, bind, limits, dropped::increment);
    Discovery.Handle record;
    try {
      record =
          discovery.register(
              new EventChannel(
                  subject.scope(),
                  subject.topic(),
                  id,
                  new EventTransport.Zmq(advertised(socket).endpoint())));
    } catch (RuntimeException e) {
      socket.close();
      throw e;
    }
    return opened(
        new AnnouncedPublisher(subject, id, record),
        subject.topic(),
        new ZmqPublisher.Output(loop, socket, List.of()));
  }

  /** Returns the address that others connect to. */
  private PeerAddress advertised(ZmtpPublisher socket) {
    var host = settings.zmqHost();
    return new PeerAddress(host == null ? settings.zmqBind() : host, socket.address().getPort());
  }

  private Publisher opened(
      AnnouncedPublisher announced, String firstFrame, ZmqPublisher.Output output) {
    var publisher =
        new ZmqPublisher(
            announced,
            firstFrame,
            output,
            budget(),
            metrics.counter(EventMetrics.DROPPED, EventMetrics.PUBLISHER_FULL),
            clock,
            publishers::remove);
    publishers.add(publisher);
    if (closed) {
      publisher.close(); // a concurrent close may have missed it
      requireOpen();
    }
    return publisher;
  }

  @Override
  public Subscription subscribe(EventSubject subject, Consumer<EventEnvelope> listener) {
    requireOpen();
    var delivery = new EventDelivery(subject, listener, budget(), threads, metrics);
    var broker = settings.zmqBroker();
    if (broker != null) {
      var subscription =
          new BrokerSubscription(
              subject,
              broker,
              settings.zmqMaxMessageBytes(),
              ZmtpLoop.of(loops),
              threads,
              delivery,
              metrics,
              brokered::remove);
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
            subject,
            settings.zmqMaxMessageBytes(),
            ZmtpLoop.of(loops),
            threads,
            delivery,
            metrics,
            subscriptions::remove);
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

  /** Removes the publishers from discovery and closes all sockets. Idempotent. */
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
    threads.shutdownNow();
  }
}
