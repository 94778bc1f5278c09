package io.dynamo.event.zmq;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.EventChannel;
import io.dynamo.discovery.EventTransport;
import io.dynamo.event.CapturedEvent;
import io.dynamo.event.Ear;
import io.dynamo.event.EventPlane;
import io.dynamo.event.EventSubject;
import io.dynamo.event.Until;
import io.dynamo.metrics.EventMetrics;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.testing.ClosedPort;
import io.dynamo.testing.ManualClock;
import io.dynamo.testing.Recorder;
import io.dynamo.wire.event.EventEnvelope;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/** The plane against peers that it does not share code with. */
class ZmqPeersTest {
  private static final EventSubject SUBJECT =
      new EventSubject(new EndpointId("dynamo", "backend", "generate"), "kv-events");

  private final Metrics metrics = new Metrics();
  private final ManualClock clock = ManualClock.now();
  private final ZmqProcesses processes = new ZmqProcesses(1000);
  private final BarePeers peers = new BarePeers();
  private final List<EventPlane> planes = new ArrayList<>();

  @AfterEach
  void closeAll() throws Exception {
    planes.forEach(EventPlane::close);
    peers.close();
    processes.close();
  }

  private EventPlane joined() {
    var plane = processes.join(metrics, clock);
    planes.add(plane);
    return plane;
  }

  private long count(Label reason) {
    return metrics.counter(EventMetrics.DROPPED, reason).value();
  }

  @Test
  void aCapturedPublisherIsHeard() throws Exception {
    var ear = new Ear();
    joined().subscribe(SUBJECT, ear);
    var head = CapturedEvent.bytes("zmtp-kv-events.pub2sub.head.bin");
    long publisher = BarePeers.publisherOf(head);
    processes.announce(SUBJECT, publisher, peers.playing(head, 1).getLocalPort());

    var heard = ear.next(2);

    assertThat(heard).extracting(EventEnvelope::publisherId).containsOnly(publisher);
    assertThat(heard).extracting(EventEnvelope::sequence).containsExactly(0L, 1L);
  }

  @Test
  void aLostConnectionIsMadeAgain() throws Exception {
    var ear = new Ear();
    joined().subscribe(SUBJECT, ear);
    var head = CapturedEvent.bytes("zmtp-kv-events.pub2sub.head.bin");
    processes.announce(SUBJECT, BarePeers.publisherOf(head), peers.playing(head, 3).getLocalPort());

    assertThat(ear.next(6))
        .extracting(EventEnvelope::sequence)
        .containsExactly(0L, 1L, 0L, 1L, 0L, 1L);
  }

  @Test
  void listenerIsNotifiedWhenAPublisherBecomesUnreachableAndReachable() throws Exception {
    var way = new LinkRecorder();
    joined().subscribe(SUBJECT, way);
    var head = CapturedEvent.bytes("zmtp-kv-events.pub2sub.head.bin");
    long publisher = BarePeers.publisherOf(head);
    int port;
    try (var first = peers.playing(head, 1)) {
      port = first.getLocalPort();
      processes.announce(SUBJECT, publisher, port);
      assertThat(way.next(publisher)).isEqualTo("linked");
      assertThat(way.next(publisher)).isEqualTo("event");
      assertThat(way.next(publisher)).isEqualTo("event");
    }
    peers.close();

    assertThat(way.next(publisher)).isEqualTo("cut");

    peers.playing(head, 1, port);
    assertThat(way.next(publisher)).isEqualTo("linked");
  }

  @Test
  void aPublisherThatCannotBeReachedIsCut() throws Exception {
    try (var closed = new ClosedPort()) {
      var way = new LinkRecorder();
      joined().subscribe(SUBJECT, way);

      processes.announce(SUBJECT, 7, closed.number());

      assertThat(way.next(7)).isEqualTo("cut");
    }
  }

  @Test
  void aCapturedSubscriberHears() throws Exception {
    var channels = new Recorder<DiscoveryEvent<EventChannel>>();
    processes.discovery().watch(EventChannel.class, channels);
    var publisher = joined().publisher(SUBJECT);
    var record = ((DiscoveryEvent.Added<EventChannel>) channels.next()).record();
    int port = PeerAddress.parse(((EventTransport.Zmq) record.transport()).endpoint()).port();
    try (var peer = new Socket(InetAddress.getLoopbackAddress(), port)) {
      var captured = CapturedEvent.bytes("zmtp-kv-events.sub2pub.bin");
      var upToReady = Arrays.copyOf(captured, BarePeers.GREETING_BYTES + BarePeers.READY_BYTES);
      assertThat(BarePeers.play(upToReady, peer)).isTrue();
      // our greeting is of ZMTP 3.0: who speaks 3.1 then subscribes by a message, not a command
      peer.getOutputStream().write("\u0000\n\u0001kv-events".getBytes(StandardCharsets.US_ASCII));
      peer.setSoTimeout(50);
      var received = new ByteArrayOutputStream();
      var wanted = "payload\u00c4\u0005hello";

      Until.holds(
          () -> {
            publisher.publish("hello".getBytes(StandardCharsets.US_ASCII));
            readInto(received, peer);
            return received.toString(StandardCharsets.ISO_8859_1).contains(wanted);
          });

      var text = received.toString(StandardCharsets.ISO_8859_1);
      assertThat(text).startsWith("\u0001\u0009kv-events");
    }
  }

  private static void readInto(ByteArrayOutputStream received, Socket peer) {
    var chunk = new byte[4096];
    try {
      int count = peer.getInputStream().read(chunk);
      received.write(chunk, 0, Math.max(0, count));
    } catch (IOException _) {
      // nothing yet
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "00", // then silence
        "ffffffffffffffffffff",
        "474554202f20485454502f312e310d0a0d0a", // an HTTP request
        "ff00000000000000017f03004e554c4c0000000000000000000000000000000000000000000000000000000000"
            + "000000000000000000000000000000000000000006ffffffffffffffff", // a command of 2^64
        // bytes
        "ff00000000000000017f03004355525645000000000000000000000000000000000000000000000000000000000"
            + "0000000000000000000000000000000000000000", // another mechanism
        "ff00000000000000017f03004e554c4c0000000000000000000000000000000000000000000000000000000000"
            + "0000000000000000000000000000000000000000041905524541445902ff" // READY cut and wrong
      })
  void aPeerThatSpeaksNonsenseHarmsNobody(String hex) throws Exception {
    var ear = new Ear();
    joined().subscribe(SUBJECT, ear);
    var even = hex.length() % 2 == 0 ? hex : hex + "0";
    processes.announce(SUBJECT, 5, peers.saying(HexFormat.of().parseHex(even)).getLocalPort());
    assertThat(ear.nextOfPublishers()).isEqualTo("found 5");

    var good = joined().publisher(SUBJECT);
    ear.connectTo(good);
    good.publish(new byte[] {1});

    assertThat(ear.next().payload()).containsExactly(1);
  }

  @Test
  void anAddressThatIsNoneHarmsNobody() throws InterruptedException {
    var ear = new Ear();
    joined().subscribe(SUBJECT, ear);
    long id = 1;
    for (var endpoint :
        List.of(
            "",
            "tcp://",
            "ipc:///tmp/x",
            "inproc://x",
            "tcp://127.0.0.1:x",
            "tcp://[::1]:0",
            "tcp://127.0.0.1:99999",
            "tcp://no.such.host.invalid:1")) {
      processes
          .discovery()
          .register(
              new EventChannel(
                  SUBJECT.scope(), SUBJECT.topic(), id++, new EventTransport.Zmq(endpoint)));
    }
    processes
        .discovery()
        .register(
            new EventChannel(SUBJECT.scope(), SUBJECT.topic(), 100, new EventTransport.Nats("x")));

    var good = joined().publisher(SUBJECT);
    ear.connectTo(good);
    good.publish(new byte[] {1});

    assertThat(ear.next().payload()).containsExactly(1);
  }

  /**
   * A publisher's socket that we do not guard: announced as publisher 7, and heard by {@code ear}.
   */
  private ZMQ.Socket rogue(Ear ear) {
    var context = peers.opened(new ZContext());
    var socket = context.createSocket(SocketType.PUB);
    int port = socket.bindToRandomPort("tcp://127.0.0.1");
    joined().subscribe(SUBJECT, ear);
    processes.announce(SUBJECT, 7, port);
    return socket;
  }

  @Test
  void malformedEventsAreCountedAndTheNextIsReceived() throws InterruptedException {
    var ear = new Ear();
    var rogue = rogue(ear);
    var rogues = new BarePublisher(rogue, clock);
    ear.connectTo(rogues);
    long before = count(EventMetrics.MALFORMED);

    rogue.send("kv-events");
    rogue.sendMore("kv-events");
    rogue.send("1");
    for (int i = 0; i < 5; i++) {
      rogue.sendMore("kv-events");
    }
    rogue.send("six");
    new BarePublisher(rogue, clock, 8, "kv-events").publish(new byte[1]);
    new BarePublisher(rogue, clock, 7, "kv-events-v2").publish(new byte[1]);
    rogues.publish(new byte[] {1});

    assertThat(ear.next().payload()).containsExactly(1);
    assertThat(count(EventMetrics.MALFORMED) - before).isEqualTo(5);
  }

  @Test
  void aGapIsCounted() throws InterruptedException {
    var ear = new Ear();
    var publisher = new BarePublisher(rogue(ear), clock);
    ear.connectTo(publisher);
    assertThat(count(EventMetrics.MISSED)).isZero();

    publisher.skip(3);
    publisher.publish(new byte[] {1});

    ear.next();
    assertThat(count(EventMetrics.MISSED)).isEqualTo(3);
  }

  @Test
  void aMessageBeyondTheLimitIsNotTaken() throws InterruptedException {
    var ear = new Ear();
    var publisher = new BarePublisher(rogue(ear), clock);
    ear.connectTo(publisher);

    publisher.publish(new byte[2 << 20]);
    var heard = new ArrayList<EventEnvelope>();
    Until.holds( // it was disconnected, and is connected again
        () -> {
          publisher.publish(new byte[] {1});
          heard.addAll(ear.rest());
          return !heard.isEmpty();
        });

    assertThat(heard.getFirst().payload()).containsExactly(1);
  }
}
