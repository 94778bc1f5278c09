package io.dynamo.event.nats;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.concurrent.Alarms;
import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.DiscoveryJson;
import io.dynamo.discovery.EventChannel;
import io.dynamo.discovery.EventTransport;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.memory.MemoryDiscovery;
import io.dynamo.discovery.memory.MemoryStore;
import io.dynamo.event.Ear;
import io.dynamo.event.EventPlane;
import io.dynamo.event.EventPlaneContract;
import io.dynamo.event.LinkListener;
import io.dynamo.event.Until;
import io.dynamo.metrics.EventMetrics;
import io.dynamo.metrics.Label;
import io.dynamo.nats.NatsLink;
import io.dynamo.testing.ManualAlarms;
import io.dynamo.testing.NatsServer;
import io.dynamo.testing.Recorder;
import io.dynamo.testing.TestSettings;
import io.dynamo.wire.event.EnvelopeCodec;
import io.dynamo.wire.event.EventEnvelope;
import io.nats.client.Connection;
import io.nats.client.Nats;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.LongPredicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The contract through a real server, and the bytes of Dynamo 1.6.1. */
class NatsEventPlaneTest extends EventPlaneContract {
  private static final String SUBJECT_TEXT =
      "namespace.dynamo.component.backend.endpoint.generate.kv-events";

  private final MemoryStore store = new MemoryStore();
  private final Discovery discovery = new MemoryDiscovery(store, new InstanceId(99));
  private final ManualAlarms alarms = new ManualAlarms(clock);
  private final Random random = new Random(1);
  private final List<EventPlane> planes = new ArrayList<>();
  private final List<AutoCloseable> owned = new ArrayList<>();

  @SuppressWarnings("NullAway.Init") // before each
  private NatsServer server;

  private long processes;

  @BeforeEach
  void useTheSharedServer() {
    server = NatsServer.shared();
  }

  @AfterEach
  void closeProcesses() throws Exception {
    for (var plane : planes) {
      plane.close();
    }
    for (var one : owned.reversed()) {
      one.close();
    }
    discovery.close();
  }

  @Override
  protected EventPlane join() {
    return process(alarms);
  }

  private EventPlane process(Alarms outages) {
    var settings =
        TestSettings.with(
            Map.of(
                "dynamo.event.plane", "nats",
                "dynamo.nats.servers", server.url(),
                "dynamo.event.queue-capacity", String.valueOf(CAPACITY)));
    var link = NatsLink.open(settings.nats(), outages);
    owned.add(link);
    var own = new MemoryDiscovery(store, new InstanceId(++processes));
    var plane = new NatsEventPlane(link, own, settings.event(), metrics, random, clock);
    planes.add(plane);
    return plane;
  }

  /** Puts a server in place of the shared one that the test may kill. */
  private void useAServerOfItsOwn() {
    server = NatsServer.start("");
    owned.add(server);
  }

  private long dropped(Label reason) {
    return metrics.counter(EventMetrics.DROPPED, reason).value();
  }

  /** A connection of a process that is not ours. */
  private Connection dynamo() throws Exception {
    var connection = Nats.connect(server.url());
    owned.add(connection);
    return connection;
  }

  private static byte[] golden(String name) throws IOException {
    try (var in = NatsEventPlaneTest.class.getResourceAsStream("/golden/events-nats/" + name)) {
      return in.readAllBytes();
    }
  }

  /** Splits a captured message into its subject and its body. */
  private record Captured(String subject, byte[] body) {
    static Captured of(String name) throws IOException {
      var bytes = golden(name);
      int line = 0;
      while (bytes[line] != '\r') {
        line++;
      }
      var words = new String(bytes, 0, line, StandardCharsets.US_ASCII).split(" ", -1);
      int length = Integer.parseInt(words[words.length - 1]);
      return new Captured(words[1], Arrays.copyOfRange(bytes, line + 2, line + 2 + length));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "kv-events",
        "kv_metrics",
        "active_sequences_events",
        "forward-pass-metrics",
      })
  void aMessageOfDynamoIsHeardAndWrittenAlike(String topic) throws Exception {
    var captured = Captured.of(topic + ".pub.bin");
    var subject = new io.dynamo.event.EventSubject(ENDPOINT, topic);
    var ear = new Ear();
    joined().subscribe(subject, ear);
    ear.connectTo(joined().publisher(subject));

    var dynamo = dynamo();
    dynamo.publish(captured.subject(), captured.body());
    dynamo.flush(Duration.ofSeconds(60));

    assertThat(captured.subject()).isEqualTo(subject.text());
    var event = ear.next();
    assertThat(event.topic()).isEqualTo(topic);
    assertThat(EnvelopeCodec.encode(event)).isEqualTo(captured.body());
  }

  @Test
  void anEventTravelsOnDynamosSubjectAsItsEnvelopeAlone() throws Exception {
    var dynamo = dynamo();
    var messages = dynamo.subscribe(SUBJECT_TEXT);
    dynamo.flush(Duration.ofSeconds(60));
    var publisher = joined().publisher(SUBJECT);

    publisher.publish(new byte[] {1, 2, 3});

    var message = messages.nextMessage(Duration.ofSeconds(60));
    assertThat(message.hasHeaders()).isFalse();
    assertThat(message.getReplyTo()).isNull();
    var event = EnvelopeCodec.decode(ByteBuffer.wrap(message.getData()));
    assertThat(event.publisherId()).isEqualTo(publisher.id());
    assertThat(event.sequence()).isZero();
    assertThat(event.payload()).containsExactly(1, 2, 3);
  }

  @Test
  void aPublisherIsInDiscoveryAsDynamosIsUntilItCloses() throws Exception {
    var channels = new Recorder<DiscoveryEvent<EventChannel>>();
    discovery.watch(EventChannel.class, channels);
    var publisher = joined().publisher(SUBJECT);

    var record = ((DiscoveryEvent.Added<EventChannel>) channels.next()).record();
    assertThat(record.publisherId()).isEqualTo(publisher.id());
    var captured = (EventChannel) DiscoveryJson.decode(golden("event_channel.kv-events.json"));
    assertThat(record).usingRecursiveComparison().ignoringFields("publisherId").isEqualTo(captured);

    publisher.close();
    assertThat(channels.next()).isEqualTo(new DiscoveryEvent.Lost<>(record));
  }

  @Test
  void aClosedPlaneLeavesNothingInDiscovery() throws InterruptedException {
    var channels = new Recorder<DiscoveryEvent<EventChannel>>();
    discovery.watch(EventChannel.class, channels);
    var plane = joined();
    plane.publisher(SUBJECT);
    plane.publisher(SUBJECT);
    channels.next(2);

    plane.close();

    assertThat(channels.next(2)).allMatch(DiscoveryEvent.Lost.class::isInstance);
  }

  @Test
  void aPublisherWithoutARecordIsFoundWithItsFirstEvent() throws Exception {
    var ear = new Ear();
    joined().subscribe(SUBJECT, ear);
    ear.connectTo(joined().publisher(SUBJECT));
    ear.nextOfPublishers();

    publishAs(7, 3);

    assertThat(ear.nextOfPublishers()).isEqualTo("found 7");
    assertThat(ear.next().sequence()).isEqualTo(3);
    assertThat(dropped(EventMetrics.MISSED)).isZero();
    publishAs(7, 6);
    assertThat(ear.next().sequence()).isEqualTo(6);
    assertThat(dropped(EventMetrics.MISSED)).isEqualTo(2);
  }

  @Test
  void eventsThatArriveAfterTheirPublisherHasLeftAreDropped() throws Exception {
    var ear = new Ear();
    joined().subscribe(SUBJECT, ear);
    var publisher = joined().publisher(SUBJECT);
    ear.connectTo(publisher);
    ear.nextOfPublishers();
    var record =
        discovery.register(
            new EventChannel(
                SUBJECT.scope(), SUBJECT.topic(), 7, new EventTransport.Nats("namespace.dynamo")));
    assertThat(ear.nextOfPublishers()).isEqualTo("found 7");
    record.close();
    assertThat(ear.nextOfPublishers()).isEqualTo("lost 7");

    publishAs(7, 0);
    publishAs(8, 0);

    assertThat(ear.next().publisherId()).isEqualTo(8);
    assertThat(ear.nextOfPublishers()).isEqualTo("found 8");
  }

  private void publishAs(long publisherId, long sequence) throws Exception {
    var dynamo = dynamo();
    dynamo.publish(
        SUBJECT_TEXT,
        EnvelopeCodec.encode(
            new EventEnvelope(publisherId, sequence, clock.millis(), "kv-events", new byte[1])));
    dynamo.flush(Duration.ofSeconds(60));
  }

  @Test
  void messagesThatAreNoEventsAreDroppedAndCounted() throws Exception {
    var ear = new Ear();
    joined().subscribe(SUBJECT, ear);
    var publisher = joined().publisher(SUBJECT);
    ear.connectTo(publisher);

    var dynamo = dynamo();
    dynamo.publish(SUBJECT_TEXT, new byte[] {1});
    dynamo.publish(
        SUBJECT_TEXT,
        EnvelopeCodec.encode(new EventEnvelope(7, 0, clock.millis(), "other", new byte[1])));
    dynamo.flush(Duration.ofSeconds(60));
    publisher.publish(new byte[] {1});

    assertThat(ear.next().publisherId()).isEqualTo(publisher.id());
    assertThat(dropped(EventMetrics.MALFORMED)).isEqualTo(2);
  }

  @Test
  void anEventLargerThanTheServerAcceptsIsDroppedAndLeavesAGap() throws InterruptedException {
    var ear = new Ear();
    joined().subscribe(SUBJECT, ear);
    var publisher = joined().publisher(SUBJECT);
    ear.connectTo(publisher);

    publisher.publish(new byte[] {1});
    publisher.publish(new byte[2 << 20]);
    publisher.publish(new byte[] {3});

    var first = ear.next();
    var second = ear.next();
    assertThat(second.payload()).containsExactly(3);
    assertThat(second.sequence() - first.sequence()).isEqualTo(2);
    assertThat(dropped(EventMetrics.TOO_LARGE)).isEqualTo(1);
    assertThat(dropped(EventMetrics.MISSED)).isEqualTo(1);
  }

  /** Hears when the connection stands and when it is cut. */
  private static final class LinkChanges implements LinkListener {
    final Recorder<String> changes = new Recorder<>();

    @Override
    public void accept(EventEnvelope event) {}

    @Override
    public void linked(LongPredicate publishers) {
      changes.accept("linked");
    }

    @Override
    public void cut(LongPredicate publishers) {
      changes.accept("cut");
    }
  }

  @Test
  void aServerThatIsKilledAndComesBackIsReported() throws InterruptedException {
    useAServerOfItsOwn();
    var way = new LinkChanges();
    joined().subscribe(SUBJECT, way);
    assertThat(way.changes.next()).isEqualTo("linked");

    server.kill();
    Until.holds(() -> alarms.waiting() > 0);
    alarms.advance(Duration.ofSeconds(3));
    assertThat(way.changes.next()).isEqualTo("cut");
    var late = new LinkChanges();
    planes.getFirst().subscribe(SUBJECT, late);
    assertThat(late.changes.next()).isEqualTo("cut");

    server.restart();
    assertThat(way.changes.next()).isEqualTo("linked");
    assertThat(late.changes.next()).isEqualTo("linked");
    assertThat(way.changes.rest()).isEmpty();
  }

  @Test
  void eventsOfAnOutageWaitWithinTheBoundAndTheRestIsCounted() throws InterruptedException {
    useAServerOfItsOwn();
    var publisher = joined().publisher(SUBJECT);
    server.kill();
    Until.holds(() -> alarms.waiting() > 0); // it knows

    for (int i = 0; i < CAPACITY + 100; i++) {
      publisher.publish(new byte[] {1});
    }
    assertThat(dropped(EventMetrics.PUBLISHER_FULL)).isEqualTo(100);

    var ear = new Ear();
    server.restart();
    joined().subscribe(SUBJECT, ear);
    Until.holds(
        () -> {
          publisher.publish(new byte[] {2});
          return !ear.rest().isEmpty(); // there is room again
        });
  }

  @Test
  void underLoadAKilledServerCostsGapsButNeitherOrderNorRepetition() throws InterruptedException {
    useAServerOfItsOwn();
    var ear = new Ear();
    joined().subscribe(SUBJECT, ear);
    var publisher = joined().publisher(SUBJECT);
    ear.connectTo(publisher);
    var heard = new ArrayList<EventEnvelope>();

    for (int round = 0; round < 3; round++) {
      for (int i = 0; i < 900; i++) {
        publisher.publish(new byte[] {1});
        if (i == 450) {
          server.kill();
        }
      }
      server.restart();
      byte mark = (byte) (2 + round);
      Until.holds(
          () -> {
            publisher.publish(new byte[] {mark});
            heard.addAll(ear.rest());
            return !heard.isEmpty() && heard.getLast().payload()[0] == mark;
          });
    }

    assertThat(heard).extracting(EventEnvelope::sequence).isSorted().doesNotHaveDuplicates();
  }
}
