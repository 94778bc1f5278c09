package io.dynamo.event.zmq;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.EventChannel;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.memory.MemoryDiscovery;
import io.dynamo.discovery.memory.MemoryStore;
import io.dynamo.event.CapturedEvent;
import io.dynamo.event.Ear;
import io.dynamo.event.EventPlane;
import io.dynamo.event.EventPlaneContract;
import io.dynamo.metrics.EventMetrics;
import io.dynamo.testing.TestSettings;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;
import org.zeromq.ZMQException;

/** The contract through two plain XSUB/XPUB proxies, as any broker is one. */
class ZmqBrokerPlaneTest extends EventPlaneContract {
  /** A proxy on loopback, with a thread of its own. */
  private static final class Proxy implements AutoCloseable {
    private final ZContext context = new ZContext();
    private final ZMQ.Socket xsub = context.createSocket(SocketType.XSUB);
    private final ZMQ.Socket xpub = context.createSocket(SocketType.XPUB);
    final int xsubPort = xsub.bindToRandomPort("tcp://127.0.0.1");
    final int xpubPort = xpub.bindToRandomPort("tcp://127.0.0.1");
    private final ZMQ.Socket stop = context.createSocket(SocketType.PAIR);
    private final ZMQ.Socket stopped = context.createSocket(SocketType.PAIR);
    private final Thread thread;

    Proxy() {
      stop.bind("inproc://stop");
      stopped.connect("inproc://stop");
      thread =
          Thread.ofPlatform()
              .daemon()
              .name("test-broker")
              .start(
                  () -> {
                    try {
                      ZMQ.proxy(xsub, xpub, null, stopped);
                    } catch (ZMQException e) {
                      // the context has ended
                    }
                  });
    }

    @Override
    public void close() {
      if (context.isClosed()) {
        return;
      }
      stop.send(ZMQ.PROXY_TERMINATE);
      try {
        thread.join(5000);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      context.close();
    }
  }

  private final MemoryStore store = new MemoryStore();
  private final Random random = new Random(1);
  private final List<Proxy> proxies = List.of(new Proxy(), new Proxy());
  private long processes;

  @Override
  protected EventPlane join() {
    var first = proxies.getFirst();
    var last = proxies.getLast();
    var settings =
        TestSettings.with(
                Map.of(
                    "dynamo.event.queue-capacity",
                    String.valueOf(CAPACITY),
                    "dynamo.event.zmq.broker",
                    "xsub=tcp://127.0.0.1:%d;tcp://127.0.0.1:%d , xpub=tcp://localhost:%d;tcp://127.0.0.1:%d"
                        .formatted(first.xsubPort, last.xsubPort, first.xpubPort, last.xpubPort)))
            .event();
    return new ZmqEventPlane(
        new MemoryDiscovery(store, new InstanceId(++processes)),
        settings,
        ZmqProcesses.LOOPS,
        metrics,
        random,
        clock);
  }

  @AfterEach
  void closeProxies() {
    for (var proxy : proxies) {
      proxy.close();
    }
  }

  /** A broker tells nobody who publishes: a publisher is found when it is heard. */
  @Override
  @Test
  protected void publishersComeAndGo() throws InterruptedException {
    var ear = new Ear();
    var plane = joined();
    joined().subscribe(SUBJECT, ear);
    var first = plane.publisher(SUBJECT);
    ear.connectTo(first);
    assertThat(ear.nextOfPublishers()).isEqualTo("found " + first.id());
    first.close();

    var again = plane.publisher(SUBJECT);
    ear.connectTo(again);
    assertThat(ear.nextOfPublishers()).isEqualTo("found " + again.id());
  }

  @Test
  void publishersAreCutWithTheLastBroker() throws InterruptedException {
    var way = new LinkRecorder();
    var ear = new Ear();
    joined().subscribe(SUBJECT, way);
    assertThat(way.nextButEvents(1)).isEqualTo("linked");
    joined().subscribe(SUBJECT, ear);
    var publisher = joined().publisher(SUBJECT);
    ear.connectTo(publisher);

    proxies.getFirst().close();
    ear.connectTo(publisher); // until now it may have heard by way of that broker alone
    publisher.publish(new byte[] {1});
    assertThat(ear.next().payload()).containsExactly(1);
    proxies.getLast().close();

    assertThat(way.nextButEvents(1)).isEqualTo("cut");
  }

  @Test
  void nothingIsWrittenIntoDiscovery() throws InterruptedException {
    var channels = new CopyOnWriteArrayList<DiscoveryEvent<EventChannel>>();
    try (var discovery = new MemoryDiscovery(store, new InstanceId(99))) {
      discovery.watch(EventChannel.class, channels::add);
      var ear = new Ear();
      joined().subscribe(SUBJECT, ear);
      ear.connectTo(joined().publisher(SUBJECT));

      assertThat(channels).isEmpty();
    }
  }

  @Test
  void eventsFromBothBrokersAreDeliveredOnce() throws InterruptedException {
    var ear = new Ear();
    joined().subscribe(SUBJECT, ear);
    var publisher = joined().publisher(SUBJECT);
    ear.connectTo(publisher);

    int count = CAPACITY / 2; // fit the subscription's queue beside late probes
    for (int i = 0; i < count; i++) {
      publisher.publish(ByteBuffer.allocate(4).putInt(i).array());
    }

    var heard = ear.next(count);
    assertThat(heard).extracting(event -> ByteBuffer.wrap(event.payload()).getInt()).isSorted();
    assertThat(ear.rest()).isEmpty();
    assertThat(metrics.counter(EventMetrics.DROPPED, EventMetrics.MALFORMED).value()).isZero();
  }

  @Test
  void dynamosOwnMessageIsHeard() throws Exception {
    var ear = new Ear();
    joined().subscribe(SUBJECT, ear);
    var probe = joined().publisher(SUBJECT);
    ear.connectTo(probe);
    var frames = CapturedEvent.frames("broker-kv-events");
    assertThat(new String(frames.getFirst(), StandardCharsets.UTF_8))
        .isEqualTo(EventFrames.subject(SUBJECT));

    try (var context = new ZContext()) {
      var publisher = context.createSocket(SocketType.XPUB);
      publisher.setHandshakeIvl(1_000); // the library may forget a connection until this ends
      publisher.connect("tcp://127.0.0.1:" + proxies.getFirst().xsubPort);
      publisher.setReceiveTimeOut(20_000);
      assertThat(publisher.recv()).as("the broker asks for the subject").isNotNull();
      for (int i = 0; i < frames.size(); i++) {
        publisher.send(frames.get(i), i < frames.size() - 1 ? ZMQ.SNDMORE : 0);
      }
      var event = ear.next();
      assertThat(event.topic()).isEqualTo("kv-events");
      assertThat(event.publisherId()).isEqualTo(ByteBuffer.wrap(frames.get(1)).getLong());
    }
  }
}
