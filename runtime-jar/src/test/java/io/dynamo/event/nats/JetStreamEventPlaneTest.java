package io.dynamo.event.nats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.event.Ear;
import io.dynamo.event.EventHistory;
import io.dynamo.event.EventPlane;
import io.dynamo.event.EventPlaneContract;
import io.dynamo.event.EventSubject;
import io.dynamo.event.StoredPosition;
import io.dynamo.event.Until;
import io.dynamo.metrics.EventMetrics;
import io.dynamo.metrics.Label;
import io.dynamo.testing.ManualAlarms;
import io.dynamo.testing.NatsServer;
import io.dynamo.wire.event.EnvelopeCodec;
import io.dynamo.wire.event.EventEnvelope;
import io.nats.client.JetStreamManagement;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The contract with storage: nothing is lost or doubled that a publisher could queue. */
class JetStreamEventPlaneTest extends EventPlaneContract {
  private static final String STREAM =
      "namespace-dynamo-component-backend-endpoint-generate-kv-events";
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final ManualAlarms alarms = new ManualAlarms(clock);

  @SuppressWarnings("NullAway.Init") // before each
  private NatsServer server;

  @SuppressWarnings("NullAway.Init") // before each
  private JetStreamProcesses processes;

  @BeforeEach
  void startServer() {
    server = NatsServer.startWithJetStream();
    processes = new JetStreamProcesses(server, SUBJECT, CAPACITY);
  }

  @AfterEach
  void closeProcesses() {
    processes.close();
  }

  @Override
  protected JetStreamEventPlane join() {
    return process(Map.of());
  }

  private JetStreamEventPlane process(Map<String, String> more) {
    return processes.join(more, alarms, metrics, clock);
  }

  private long dropped(Label reason) {
    return metrics.counter(EventMetrics.DROPPED, reason).value();
  }

  private static void publish(EventPlane.Publisher publisher, int first, int count) {
    for (int i = first; i < first + count; i++) {
      publisher.publish(payload(i));
    }
  }

  @Override
  @Test
  protected void aSlowSubscriberLosesEventsAndNobodyWaitsForIt() throws InterruptedException {
    var slow = new JetStreamProcesses.StuckHistory();
    var ear = new Ear();
    joined().subscribe(SUBJECT, ear);
    var publisher = joined().publisher(SUBJECT);
    ear.connectTo(publisher);
    int count = 3 * CAPACITY;
    processes.replay(join(), 0, slow);
    assertThat(slow.begun.await(60, TimeUnit.SECONDS)).isTrue(); // in a probe

    for (int i = 0; i < count; i++) {
      publisher.publish(payload(i));
      assertThat(number(ear.next())).isEqualTo(i); // the other subscriber keeps up
    }
    slow.release.countDown();

    var heard = new ArrayList<EventEnvelope>();
    while (heard.isEmpty() || heard.getLast().payload().length != 4) {
      heard.add(slow.events.next());
    }
    heard.addAll(slow.events.next(count - 1));
    assertThat(heard.subList(heard.size() - count, heard.size()))
        .extracting(EventPlaneContract::number)
        .isEqualTo(IntStream.range(0, count).boxed().toList());
    assertThat(dropped(EventMetrics.SUBSCRIPTION_FULL)).isZero();
  }

  @Test
  void storedEventsAreReplayedFromAPositionAndThoseThatFollowToo() throws Exception {
    var publisher = joined().publisher(SUBJECT);
    publish(publisher, 0, 10);
    var late = join();
    processes.awaitStored(late, 10);
    var history = new JetStreamProcesses.History();

    processes.replay(late, 4, history);

    assertThat(history.events.next(6))
        .extracting(EventPlaneContract::number)
        .containsExactly(4, 5, 6, 7, 8, 9);
    assertThat(history.states.next()).isEqualTo("caught up");
    publisher.publish(payload(10));
    assertThat(number(history.events.next())).isEqualTo(10);
    assertThat(history.positions.next(7)).containsExactly(5L, 6L, 7L, 8L, 9L, 10L, 11L);
  }

  @Test
  void nothingToReplayIsCaughtUpAtOnce() throws InterruptedException {
    var history = new JetStreamProcesses.History();
    processes.replay(join(), 0, history);
    assertThat(history.states.next()).isEqualTo("caught up");
  }

  @Test
  void underLoadAKilledServerCostsNoEventAndDoublesNone() throws Exception {
    var history = new JetStreamProcesses.History();
    processes.replay(join(), 0, history);
    var publisher = joined().publisher(SUBJECT);
    int rounds = 3;
    int each = 900; // fit the publisher's queue

    for (int round = 0; round < rounds; round++) {
      for (int i = 0; i < each; i++) {
        publisher.publish(payload(round * each + i));
        if (i == each / 2) {
          server.kill();
        }
      }
      server.restart();
      assertThat(history.events.next(each))
          .extracting(EventPlaneContract::number)
          .isEqualTo(IntStream.range(round * each, (round + 1) * each).boxed().toList());
    }

    assertThat(history.events.rest()).isEmpty();
    assertThat(dropped(EventMetrics.MISSED)).isZero();
    assertThat(dropped(EventMetrics.PUBLISHER_FULL)).isZero();
  }

  @Test
  void anOutageIsReportedAndItsEndOnceAllIsHeard() throws Exception {
    var history = new JetStreamProcesses.History();
    processes.replay(join(), 0, history);
    assertThat(history.states.next()).isEqualTo("caught up");
    var publisher = joined().publisher(SUBJECT);

    server.kill();
    Until.holds(() -> alarms.waiting() >= 2); // both processes know
    publish(publisher, 0, 10);
    alarms.advance(Duration.ofSeconds(3));
    assertThat(history.states.next()).isEqualTo("cut");
    server.restart();

    assertThat(history.events.next(10)).hasSize(10);
    Until.holds(() -> history.states.rest().contains("caught up"));
  }

  @Test
  void anEventIsAcknowledgedOnceItHasBeenHandled() throws Exception {
    var stuck = new JetStreamProcesses.StuckHistory();
    var plane = join();
    processes.replay(plane, 0, stuck);
    publish(joined().publisher(SUBJECT), 0, 5);
    assertThat(stuck.begun.await(60, TimeUnit.SECONDS)).isTrue();
    processes.awaitStored(plane, 5);
    var management = processes.management();
    var name = management.getConsumerNames(STREAM).getFirst();

    var before = management.getConsumerInfo(STREAM, name);
    assertThat(before.getAckFloor().getStreamSequence()).isZero();
    assertThat(plane.purge(SUBJECT, processes.at(plane, 5)))
        .as("nothing is purged that waits")
        .isZero();
    stuck.release.countDown();

    assertThat(stuck.events.next(5)).hasSize(5);
    Until.holds(() -> ackFloor(management, name) == 5);
    assertThat(plane.purge(SUBJECT, processes.at(plane, 3))).isEqualTo(3);
    var span = plane.span(SUBJECT);
    assertThat(span).isEqualTo(new EventHistory.Span(span.life(), 4, 5, 2));
  }

  private static long ackFloor(JetStreamManagement management, String consumer) {
    try {
      return management.getConsumerInfo(STREAM, consumer).getAckFloor().getStreamSequence();
    } catch (Exception late) {
      return -1; // asked again
    }
  }

  @Test
  void eventsThatWereOnTheirWayWhenTheServerDiedAreDeliveredAgainAndHandledOnce() throws Exception {
    var stuck = new JetStreamProcesses.StuckHistory();
    processes.replay(join(), 0, stuck);
    var publisher = joined().publisher(SUBJECT);
    publish(publisher, 0, 600); // more than are handed out at a time
    assertThat(stuck.begun.await(60, TimeUnit.SECONDS)).isTrue();

    server.restart();
    stuck.release.countDown();

    assertThat(stuck.events.next(600))
        .extracting(EventPlaneContract::number)
        .isEqualTo(IntStream.range(0, 600).boxed().toList());
    publisher.publish(payload(600));
    assertThat(number(stuck.events.next())).isEqualTo(600);
  }

  @Test
  void aConsumerThatIsDeletedAndAStreamThatIsLostAreMadeAgain() throws Exception {
    var history = new JetStreamProcesses.History();
    processes.replay(join(), 0, history);
    var publisher = joined().publisher(SUBJECT);
    publish(publisher, 0, 3);
    history.events.next(3);
    var management = processes.management();

    management.deleteConsumer(STREAM, management.getConsumerNames(STREAM).getFirst());
    publisher.publish(payload(3));
    assertThat(number(history.events.next())).isEqualTo(3);

    management.deleteStream(STREAM);
    publisher.publish(payload(4));
    assertThat(number(history.events.next())).isEqualTo(4);
    assertThat(history.positions.next(5).getLast()).isEqualTo(1);
  }

  @Test
  void eventsOfDynamoOverCoreNatsAreStored() throws Exception {
    var plane = join();
    plane.span(SUBJECT); // makes the stream
    var dynamo = processes.connection();
    dynamo.publish(
        SUBJECT.text(),
        EnvelopeCodec.encode(new EventEnvelope(7, 0, clock.millis(), "kv-events", payload(1))));
    dynamo.publish(SUBJECT.text(), "no event".getBytes(StandardCharsets.US_ASCII));
    dynamo.flush(PATIENCE);
    processes.awaitStored(plane, 2); // a flush does not wait for the stream
    var history = new JetStreamProcesses.History();

    processes.replay(plane, 0, history);

    assertThat(history.events.next().publisherId()).isEqualTo(7);
    assertThat(history.states.next()).isEqualTo("caught up");
    assertThat(dropped(EventMetrics.MALFORMED)).isEqualTo(1);
  }

  @Test
  void theStreamKeepsWithinItsBounds() throws Exception {
    var plane =
        process(
            Map.of(
                "dynamo.nats.jetstream.max-age", "90s",
                "dynamo.nats.jetstream.max-bytes", "1MiB"));
    var publisher = plane.publisher(SUBJECT);
    for (int i = 0; i < 30; i++) {
      publisher.publish(new byte[100_000]);
    }
    processes.awaitStored(plane, 30);

    assertThat(plane.span(SUBJECT).count()).isBetween(5L, 10L);
    var configuration = processes.management().getStreamInfo(STREAM).getConfiguration();
    assertThat(configuration.getMaxAge()).isEqualTo(Duration.ofSeconds(90));
    var other = process(Map.of("dynamo.nats.jetstream.max-age", "2h"));
    assertThat(other.span(SUBJECT).last()).isEqualTo(30);
    assertThat(processes.management().getStreamInfo(STREAM).getConfiguration().getMaxAge())
        .isEqualTo(Duration.ofHours(2));
  }

  @Test
  void aPublisherHoldsWhatItsQueueHoldsWhileTheServerIsAway() throws Exception {
    var publisher = joined().publisher(SUBJECT);
    var history = new JetStreamProcesses.History();
    processes.replay(join(), 0, history);
    publisher.publish(payload(0));
    history.events.next();
    server.kill();
    Until.holds(() -> alarms.waiting() >= 2);

    publish(publisher, 1, CAPACITY + 100);
    long dropped = dropped(EventMetrics.PUBLISHER_FULL);
    assertThat(dropped).as("one more when the first was not acknowledged").isBetween(100L, 101L);
    server.restart();
    int kept = (int) (CAPACITY + 100 - dropped);
    assertThat(history.events.next(kept)).hasSize(kept);
    publisher.publish(payload(5000));

    assertThat(number(history.events.next())).isEqualTo(5000);
    assertThat(dropped(EventMetrics.MISSED)).isEqualTo(dropped);
  }

  @Test
  void aClosedSubscriptionLeavesNoConsumer() throws Exception {
    var plane = join();
    var history = new JetStreamProcesses.History();
    var subscription = processes.replay(plane, 0, history);
    history.states.next();
    var management = processes.management();
    assertThat(management.getConsumerNames(STREAM)).hasSize(1);

    subscription.close();

    Until.holds(
        () -> {
          try {
            return management.getConsumerNames(STREAM).isEmpty();
          } catch (Exception e) {
            throw new AssertionError(e);
          }
        });
  }

  @Test
  void otherTopicsAreNotStored() throws Exception {
    var plane = join();
    var subject = new EventSubject(ENDPOINT, "kv_metrics");
    var ear = new Ear();
    plane.subscribe(subject, ear);
    ear.connectTo(plane.publisher(subject));

    assertThat(processes.management().getStreamNames()).isEmpty();
    assertThatThrownBy(
            () -> plane.replay(subject, new StoredPosition(1, 0), new JetStreamProcesses.History()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("are not stored");
  }

  @Test
  void aServerWithoutJetStreamIsRefusedAtTheStart() {
    server.close();
    server = NatsServer.start("");
    processes = new JetStreamProcesses(server, SUBJECT, CAPACITY);
    assertThatThrownBy(this::join)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("nats-server -js");
  }

  @Test
  void namesThatAreNotFaithfulHaveAChecksum() {
    assertThat(EventStream.nameOf(SUBJECT.text())).isEqualTo(STREAM);
    assertThat(EventStream.nameOf("namespace.Dynamo.x"))
        .startsWith("namespace-dynamo-x-")
        .isNotEqualTo(EventStream.nameOf("namespace.dynamO.x"));
    assertThat(LongStream.range(0, 100).mapToObj(i -> EventStream.nameOf("a_" + i)).distinct())
        .hasSize(100);
  }
}
