package io.dynamo.event.zmq;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.EventChannel;
import io.dynamo.discovery.EventTransport;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.memory.MemoryDiscovery;
import io.dynamo.discovery.memory.MemoryStore;
import io.dynamo.event.CapturedEvent;
import io.dynamo.event.Ear;
import io.dynamo.event.EventEnvelope;
import io.dynamo.event.EventPlane;
import io.dynamo.event.EventPlaneContract;
import io.dynamo.event.Until;
import io.dynamo.metrics.EventMetrics;
import io.dynamo.metrics.Label;
import io.dynamo.testing.Heard;
import io.dynamo.testing.TestSettings;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

class ZmqEventPlaneTest extends EventPlaneContract {
  private final MemoryStore store = new MemoryStore();
  private final Discovery discovery = new MemoryDiscovery(store, new InstanceId(99));
  private final Random random = new Random(1);
  private final List<AutoCloseable> opened = new CopyOnWriteArrayList<>();
  private long processes;

  @Override
  protected EventPlane join() {
    var settings =
        TestSettings.with(
                Map.of(
                    "dynamo.event.queue-capacity",
                    String.valueOf(CAPACITY),
                    "dynamo.event.zmq.max-message",
                    "1MiB"))
            .event();
    return new ZmqEventPlane(
        new MemoryDiscovery(store, new InstanceId(++processes)), settings, metrics, random, clock);
  }

  @AfterEach
  void closeAll() throws Exception {
    closeOpened();
    discovery.close();
  }

  private void closeOpened() throws Exception {
    for (var each : opened) {
      each.close();
    }
    opened.clear();
  }

  private <T extends AutoCloseable> T opened(T part) {
    opened.add(part);
    return part;
  }

  private long count(Label reason) {
    return metrics.counter(EventMetrics.DROPPED, reason).value();
  }

  private void announce(long publisherId, int port) {
    discovery.register(channel(publisherId, port));
  }

  private static EventChannel channel(long publisherId, int port) {
    return new EventChannel(
        SUBJECT.scope(),
        SUBJECT.topic(),
        publisherId,
        new EventTransport.Zmq("tcp://127.0.0.1:" + port));
  }

  @Test
  void aPublisherIsFoundThroughDiscoveryUntilItCloses() throws InterruptedException {
    var channels = new Heard<DiscoveryEvent<EventChannel>>();
    discovery.watch(EventChannel.class, channels);
    var publisher = joined().publisher(SUBJECT);

    var record = ((DiscoveryEvent.Added<EventChannel>) channels.next()).record();
    assertThat(record.publisherId()).isEqualTo(publisher.id());
    assertThat(record.scope()).isEqualTo(SUBJECT.scope());
    assertThat(record.topic()).isEqualTo("kv-events");
    assertThat(record.transport())
        .isInstanceOfSatisfying(
            EventTransport.Zmq.class,
            zmq -> assertThat(zmq.endpoint()).matches("tcp://127\\.0\\.0\\.1:[1-9]\\d*"));

    publisher.close();
    assertThat(channels.next()).isEqualTo(new DiscoveryEvent.Lost<>(record));
  }

  @Test
  void aClosedPlaneLeavesNothingInDiscovery() throws InterruptedException {
    var channels = new Heard<DiscoveryEvent<EventChannel>>();
    discovery.watch(EventChannel.class, channels);
    var plane = joined();
    plane.publisher(SUBJECT);
    plane.publisher(SUBJECT);
    channels.next(2);

    plane.close();

    assertThat(channels.next(2)).allMatch(DiscoveryEvent.Lost.class::isInstance);
  }

  @Test
  void threeHundredPublishersShareTheThreads() throws InterruptedException {
    var plane = joined();
    var ear = new Ear();
    joined().subscribe(SUBJECT, ear);
    var first = plane.publisher(SUBJECT);
    ear.connectTo(first);
    int before = Thread.getAllStackTraces().size();
    var publishers = new ArrayList<EventPlane.Publisher>();
    for (int i = 0; i < 300; i++) {
      publishers.add(plane.publisher(SUBJECT));
    }
    for (var publisher : publishers) {
      ear.connectTo(publisher);
    }

    publishers.forEach(publisher -> publisher.publish(new byte[] {1}));

    assertThat(ear.next(300))
        .extracting(EventEnvelope::publisherId)
        .containsExactlyInAnyOrderElementsOf(
            publishers.stream().map(EventPlane.Publisher::id).toList());
    // virtual threads may want a carrier more
    assertThat(Thread.getAllStackTraces().size()).isLessThan(before + 20);
  }

  private static final int GREETING_BYTES = 64;
  private static final int READY_BYTES = 27; // of the captured peers

  /**
   * What a captured peer said first, said at the times of the protocol: the greeting, READY after
   * the other's greeting, the rest after the other's READY.
   *
   * @return whether there was another; the library may forget a connection before it says a byte
   */
  private static boolean play(byte[] captured, Socket peer) throws IOException {
    var out = peer.getOutputStream();
    var in = peer.getInputStream();
    out.write(captured, 0, GREETING_BYTES);
    var greeting = in.readNBytes(GREETING_BYTES);
    if (greeting.length == 0) {
      return false;
    }
    assertThat(greeting).startsWith(0xff);
    out.write(captured, GREETING_BYTES, READY_BYTES);
    var header = in.readNBytes(2);
    assertThat(header[0]).isEqualTo((byte) 4); // a short command
    assertThat(new String(in.readNBytes(header[1] & 0xff), StandardCharsets.ISO_8859_1))
        .startsWith("\u0005READY");
    int said = GREETING_BYTES + READY_BYTES;
    out.write(captured, said, captured.length - said);
    return true;
  }

  /** A captured publisher that hangs up on all but the last of those who connect. */
  private ServerSocket playing(byte[] captured, int times) throws IOException {
    var server = opened(new ServerSocket(0, 10, InetAddress.getLoopbackAddress()));
    Thread.ofVirtual()
        .start(
            () -> {
              for (int heard = 0; heard < times; ) {
                try {
                  var client = opened(server.accept());
                  if (play(captured, client) && ++heard < times) {
                    var _ = client.getInputStream().read(); // its subscription
                    client.close();
                  }
                } catch (IOException _) {
                  return; // the test has ended
                }
              }
            });
    return server;
  }

  /** A peer that writes bytes to whoever connects, and then is silent. */
  private ServerSocket saying(byte[] bytes) throws IOException {
    var server = opened(new ServerSocket(0, 10, InetAddress.getLoopbackAddress()));
    Thread.ofVirtual()
        .start(
            () -> {
              while (true) {
                try {
                  opened(server.accept()).getOutputStream().write(bytes);
                } catch (IOException _) {
                  return; // the test has ended
                }
              }
            });
    return server;
  }

  @Test
  void aCapturedPublisherIsHeard() throws Exception {
    var ear = new Ear();
    joined().subscribe(SUBJECT, ear);
    var head = CapturedEvent.bytes("zmtp-kv-events.pub2sub.head.bin");
    long publisher = publisherOf(head);
    announce(publisher, playing(head, 1).getLocalPort());

    var heard = ear.next(2);

    assertThat(heard).extracting(EventEnvelope::publisherId).containsOnly(publisher);
    assertThat(heard).extracting(EventEnvelope::sequence).containsExactly(0L, 1L);
  }

  /** The second frame of the first message. */
  private static long publisherOf(byte[] head) {
    var topic = "\u0009kv-events".getBytes(StandardCharsets.US_ASCII);
    var text = new String(head, StandardCharsets.ISO_8859_1);
    int at = text.indexOf(new String(topic, StandardCharsets.ISO_8859_1)) + topic.length;
    return Long.parseUnsignedLong(HexFormat.of().formatHex(head, at + 2, at + 10), 16);
  }

  @Test
  void aLostConnectionIsMadeAgain() throws Exception {
    var ear = new Ear();
    joined().subscribe(SUBJECT, ear);
    var head = CapturedEvent.bytes("zmtp-kv-events.pub2sub.head.bin");
    announce(publisherOf(head), playing(head, 3).getLocalPort());

    assertThat(ear.next(6))
        .extracting(EventEnvelope::sequence)
        .containsExactly(0L, 1L, 0L, 1L, 0L, 1L);
  }

  @Test
  void whoListensIsToldWhenThereIsNoWayToAPublisherAndWhenThereIs() throws Exception {
    var way = new Way();
    joined().subscribe(SUBJECT, way);
    var head = CapturedEvent.bytes("zmtp-kv-events.pub2sub.head.bin");
    long publisher = publisherOf(head);
    int port;
    try (var first = playing(head, 1)) {
      port = first.getLocalPort();
      announce(publisher, port);
      assertThat(way.next(publisher)).isEqualTo("linked");
      assertThat(way.next(publisher)).isEqualTo("event");
      assertThat(way.next(publisher)).isEqualTo("event");
    }
    closeOpened();

    assertThat(way.next(publisher)).isEqualTo("cut");

    opened(new ServerSocket(port, 10, InetAddress.getLoopbackAddress()));
    assertThat(way.next(publisher)).isEqualTo("linked");
  }

  @Test
  void aPublisherThatCannotBeReachedIsCut() throws Exception {
    int port;
    try (var taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = taken.getLocalPort();
    }
    var way = new Way();
    joined().subscribe(SUBJECT, way);

    announce(7, port);

    assertThat(way.next(7)).isEqualTo("cut");
  }

  @Test
  void aCapturedSubscriberHears() throws Exception {
    var channels = new Heard<DiscoveryEvent<EventChannel>>();
    discovery.watch(EventChannel.class, channels);
    var publisher = joined().publisher(SUBJECT);
    var record = ((DiscoveryEvent.Added<EventChannel>) channels.next()).record();
    int port = PeerAddress.parse(((EventTransport.Zmq) record.transport()).endpoint()).port();
    try (var peer = new Socket(InetAddress.getLoopbackAddress(), port)) {
      var captured = CapturedEvent.bytes("zmtp-kv-events.sub2pub.bin");
      var upToReady = Arrays.copyOf(captured, GREETING_BYTES + READY_BYTES);
      assertThat(play(upToReady, peer)).isTrue();
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
    announce(5, saying(HexFormat.of().parseHex(even)).getLocalPort());
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
      discovery.register(
          new EventChannel(
              SUBJECT.scope(), SUBJECT.topic(), id++, new EventTransport.Zmq(endpoint)));
    }
    discovery.register(
        new EventChannel(SUBJECT.scope(), SUBJECT.topic(), 100, new EventTransport.Nats("x")));

    var good = joined().publisher(SUBJECT);
    ear.connectTo(good);
    good.publish(new byte[] {1});

    assertThat(ear.next().payload()).containsExactly(1);
  }

  @Test
  void whatIsNoEventIsCountedAndTheNextIsHeard() throws InterruptedException {
    var context = opened(new ZContext());
    var rogue = context.createSocket(SocketType.PUB);
    int port = rogue.bindToRandomPort("tcp://127.0.0.1");
    var ear = new Ear();
    joined().subscribe(SUBJECT, ear);
    announce(7, port);
    var rogues = new Rogue(rogue);
    ear.connectTo(rogues);
    long before = count(EventMetrics.MALFORMED);

    rogue.send("kv-events");
    rogue.sendMore("kv-events");
    rogue.send("1");
    for (int i = 0; i < 5; i++) {
      rogue.sendMore("kv-events");
    }
    rogue.send("six");
    new Rogue(rogue, 8, "kv-events").publish(new byte[1]);
    new Rogue(rogue, 7, "kv-events-v2").publish(new byte[1]);
    rogues.publish(new byte[] {1});

    assertThat(ear.next().payload()).containsExactly(1);
    assertThat(count(EventMetrics.MALFORMED) - before).isEqualTo(5);
  }

  @Test
  void aGapIsCounted() throws InterruptedException {
    var context = opened(new ZContext());
    var socket = context.createSocket(SocketType.PUB);
    int port = socket.bindToRandomPort("tcp://127.0.0.1");
    var ear = new Ear();
    joined().subscribe(SUBJECT, ear);
    announce(7, port);
    var publisher = new Rogue(socket);
    ear.connectTo(publisher);
    assertThat(count(EventMetrics.MISSED)).isZero();

    publisher.sequence += 3;
    publisher.publish(new byte[] {1});

    ear.next();
    assertThat(count(EventMetrics.MISSED)).isEqualTo(3);
  }

  @Test
  void aMessageBeyondTheLimitIsNotTaken() throws InterruptedException {
    var context = opened(new ZContext());
    var socket = context.createSocket(SocketType.PUB);
    int port = socket.bindToRandomPort("tcp://127.0.0.1");
    var ear = new Ear();
    joined().subscribe(SUBJECT, ear);
    announce(7, port);
    var publisher = new Rogue(socket);
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

  @Test
  void aPublisherThatMovesIsFollowed() throws InterruptedException {
    var context = opened(new ZContext());
    var ear = new Ear();
    joined().subscribe(SUBJECT, ear);
    var first = context.createSocket(SocketType.PUB);
    var handle = discovery.register(channel(7, first.bindToRandomPort("tcp://127.0.0.1")));
    ear.connectTo(new Rogue(first));
    var second = context.createSocket(SocketType.PUB);
    handle.close();
    announce(7, second.bindToRandomPort("tcp://127.0.0.1"));

    var moved = new Rogue(second);
    ear.connectTo(moved);
    moved.publish(new byte[] {2});

    assertThat(ear.next().payload()).containsExactly(2);
  }

  /** A publisher on a bare socket, of id 7 unless told otherwise. */
  private final class Rogue implements EventPlane.Publisher {
    private final ZMQ.Socket socket;
    private final long id;
    private final String topic;
    private long sequence;

    Rogue(ZMQ.Socket socket) {
      this(socket, 7, SUBJECT.topic());
    }

    Rogue(ZMQ.Socket socket, long id, String topic) {
      this.socket = socket;
      this.id = id;
      this.topic = topic;
    }

    @Override
    public long id() {
      return id;
    }

    @Override
    public void publish(byte[] payload) {
      var event = new EventEnvelope(id, sequence++, clock.millis(), topic, payload);
      socket.sendMore(topic);
      socket.sendMore(EventFrames.number(id));
      socket.sendMore(EventFrames.number(event.sequence()));
      socket.send(EventFrames.envelope(event));
    }

    @Override
    public void close() {
      socket.close();
    }
  }
}
