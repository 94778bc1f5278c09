package io.dynamo.event.nats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.discovery.EndpointId;
import io.dynamo.event.EventHistory;
import io.dynamo.event.EventPlane;
import io.dynamo.event.EventSubject;
import io.dynamo.event.UnreadableSnapshotException;
import io.dynamo.event.Until;
import io.dynamo.event.nats.JetStreamProcesses.History;
import io.dynamo.event.nats.JetStreamProcesses.StuckHistory;
import io.dynamo.metrics.Metrics;
import io.dynamo.testing.ManualAlarms;
import io.dynamo.testing.ManualClock;
import io.dynamo.testing.NatsServer;
import io.nats.client.PurgeOptions;
import io.nats.client.api.ObjectInfo;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Snapshots of stored events, and the report of events that are gone. */
class JetStreamHistoryTest {
  private static final EventSubject SUBJECT =
      new EventSubject(new EndpointId("dynamo", "backend", "generate"), "kv-events");
  private static final String STREAM =
      "namespace-dynamo-component-backend-endpoint-generate-kv-events";
  private static final String BUCKET =
      "namespace-dynamo-component-backend-endpoint-generate-radix-bucket";

  private final ManualClock clock = ManualClock.now();
  private final ManualAlarms alarms = new ManualAlarms(clock);
  private final NatsServer server = NatsServer.startWithJetStream();
  private final JetStreamProcesses processes = new JetStreamProcesses(server, SUBJECT, 1000);

  @AfterEach
  void closeProcesses() {
    processes.close();
  }

  private JetStreamEventPlane join() {
    return processes.join(Map.of(), alarms, new Metrics(), clock);
  }

  private boolean save(EventHistory plane, long number, byte[] content) throws IOException {
    return plane.save(SUBJECT, processes.snapshot(plane, number, content));
  }

  /** Has {@code count} events stored, after none. */
  private void store(EventHistory plane, int count) {
    publish(join().publisher(SUBJECT), 0, count);
    processes.awaitStored(plane, count);
  }

  private static void publish(EventPlane.Publisher publisher, int first, int count) {
    for (int i = first; i < first + count; i++) {
      publisher.publish(new byte[] {(byte) i});
    }
  }

  @Test
  void aSnapshotIsReplacedByLaterOnesOnly() throws Exception {
    var plane = join();
    store(plane, 12);
    assertThat(plane.snapshot(SUBJECT)).isNull();
    var large = new byte[300_000];
    new Random(1).nextBytes(large);

    assertThat(save(plane, 10, large)).isTrue();
    assertThat(save(plane, 9, new byte[1])).isFalse();

    server.restart();
    Until.holds(() -> alarms.waiting() >= 1);
    var other = join();
    var read = Objects.requireNonNull(other.snapshot(SUBJECT));
    assertThat(read.position()).isEqualTo(processes.at(other, 10));
    assertThat(read.content()).isEqualTo(large);
    assertThat(save(other, 11, new byte[2])).isTrue();
    assertThat(Objects.requireNonNull(other.snapshot(SUBJECT)).content()).hasSize(2);
  }

  @Test
  void ofSnapshotsThatAreSavedAtOnceTheLatestStays() throws Exception {
    var slow = join();
    var fast = join();
    store(fast, 60);
    var large = new byte[4 << 20]; // takes its time
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int round = 1; round <= 5; round++) {
        long position = 10L * round;
        var begun = new CountDownLatch(1);
        var earlier =
            threads.submit(
                () -> {
                  begun.countDown();
                  return save(slow, position, large);
                });
        assertThat(begun.await(60, TimeUnit.SECONDS)).isTrue();

        assertThat(save(fast, position + 1, new byte[1])).isTrue();

        var _ = earlier.get(60, TimeUnit.SECONDS); // true where it was quicker
        var stored = Objects.requireNonNull(fast.snapshot(SUBJECT));
        assertThat(stored.position().number()).as("round %d", round).isEqualTo(position + 1);
        assertThat(stored.content()).hasSize(1);
      }
    }
    var management = processes.management();
    assertThat(management.getStreamInfo("OBJ_" + BUCKET).getStreamState().getByteCount())
        .as("those that were replaced, or came too late, are gone")
        .isLessThan(large.length);
  }

  @Test
  void aKeyThatNamesNoSnapshotIsRefusedAndReplacedByTheNext() throws Exception {
    var plane = join();
    store(plane, 10);
    save(plane, 10, new byte[1]);
    var connection = processes.connection();
    connection.keyValue(BUCKET).put("radix-state", "something else");

    assertThatThrownBy(() -> plane.snapshot(SUBJECT))
        .isInstanceOf(UnreadableSnapshotException.class)
        .hasMessageContaining("names no snapshot with a position but \"something else\"");

    connection.keyValue(BUCKET).put("radix-state", "radix-state-0123456789abcdef-9-gone");
    assertThatThrownBy(() -> plane.snapshot(SUBJECT))
        .isInstanceOf(UnreadableSnapshotException.class)
        .hasMessageContaining("which is not there");

    connection.keyValue(BUCKET).put("radix-state", "something else");
    assertThat(save(plane, 3, new byte[2])).isTrue();
    assertThat(Objects.requireNonNull(plane.snapshot(SUBJECT)).position().number()).isEqualTo(3);
  }

  @Test
  void aStreamThatIsMadeAnewHasSnapshotsOfItsOwn() throws Exception {
    var plane = join();
    store(plane, 10);
    var before = processes.snapshot(plane, 10, new byte[1]);
    assertThat(plane.save(SUBJECT, before)).isTrue();
    processes.management().deleteStream(STREAM);
    store(plane, 4);
    assertThat(plane.span(SUBJECT).continues(before.position())).isFalse();

    assertThat(save(plane, 3, new byte[2])).as("the stored one is at 10").isTrue();

    assertThat(Objects.requireNonNull(plane.snapshot(SUBJECT)).position())
        .isEqualTo(processes.at(plane, 3));
    assertThat(save(plane, 2, new byte[1])).as("by one of the same stream").isFalse();
    assertThat(objects()).as("the one before is gone").hasSize(1);
    assertThat(plane.purge(SUBJECT, before.position())).isZero();
    assertThat(plane.purge(SUBJECT, processes.at(plane, 3))).isEqualTo(3);
    publish(join().publisher(SUBJECT), 0, 20);
    processes.awaitStored(plane, 24);
    assertThat(plane.span(SUBJECT).continues(before.position())).as("its numbers are").isFalse();
    assertThat(plane.save(SUBJECT, before)).as("nobody needs it").isFalse();
    long life = plane.span(SUBJECT).life();
    server.restart();
    var other = join();
    assertThat(other.span(SUBJECT).life()).isEqualTo(life);
    assertThat(other.span(SUBJECT).continues(processes.at(other, 3))).isTrue();
  }

  @Test
  void aSnapshotBeyondTheEndOfItsStreamIsNotSavedAndHoldsUpNone() throws Exception {
    var plane = join();
    store(plane, 5);
    assertThat(save(plane, 6, new byte[1])).isFalse();
    assertThat(plane.snapshot(SUBJECT)).isNull();
    assertThat(save(plane, 4, new byte[1])).isTrue();
    var lost = "radix-state-%016x-9-lost".formatted(plane.span(SUBJECT).life());
    processes.connection().keyValue(BUCKET).put("radix-state", lost);

    assertThat(save(plane, 3, new byte[2])).isTrue();

    assertThat(Objects.requireNonNull(plane.snapshot(SUBJECT)).content()).hasSize(2);
  }

  @Test
  void aPurgeFromOutsideHoldsUpNoSnapshot() throws Exception {
    var plane = join();
    var publisher = join().publisher(SUBJECT);
    publish(publisher, 0, 5);
    processes.awaitStored(plane, 5);
    assertThat(save(plane, 4, new byte[1])).isTrue();
    processes.management().purgeStream(STREAM);
    publish(publisher, 5, 2);
    processes.awaitStored(plane, 7);
    var read = Objects.requireNonNull(plane.snapshot(SUBJECT));
    assertThat(plane.span(SUBJECT).continues(read.position())).as("5 is gone").isFalse();

    assertThat(save(plane, 7, new byte[2])).isTrue();

    assertThat(Objects.requireNonNull(plane.snapshot(SUBJECT)).content()).hasSize(2);
  }

  @Test
  void objectsOfEarlierFormsAreDeleted() throws Exception {
    var plane = join();
    store(plane, 3);
    save(plane, 1, new byte[1]);
    var bucket = processes.connection().objectStore(BUCKET);
    bucket.put("radix-state", new byte[3]);
    bucket.put("radix-state-2-abc", new byte[3]);
    bucket.put("of somebody else", new byte[3]);
    processes.connection().keyValue(BUCKET).put("radix-state", "radix-state-2-abc");

    assertThat(save(plane, 2, new byte[2])).isTrue();

    assertThat(objects()).hasSize(2).contains("of somebody else");
    assertThat(Objects.requireNonNull(plane.snapshot(SUBJECT)).content()).hasSize(2);
  }

  private List<String> objects() throws Exception {
    return processes.connection().objectStore(BUCKET).getList().stream()
        .map(ObjectInfo::getObjectName)
        .toList();
  }

  @Test
  void aReaderOfAStreamThatIsMadeAnewBeginsAtItsFirstEvent() throws Exception {
    var stuck = new StuckHistory();
    var plane = join();
    store(plane, 1);
    processes.replay(plane, 0, stuck);
    assertThat(stuck.begun.await(60, TimeUnit.SECONDS)).isTrue();

    processes.management().deleteStream(STREAM);
    store(plane, 7); // more than were read before
    stuck.release.countDown();

    assertThat(stuck.positions.next(8)).containsExactly(1L, 1L, 2L, 3L, 4L, 5L, 6L, 7L);
    Until.holds(() -> stuck.states.rest().contains("gap"));
  }

  @Test
  void eventsThatAreGoneBeforeTheyAreReadAreReported() throws Exception {
    var plane = join();
    publish(join().publisher(SUBJECT), 0, 5);
    processes.awaitStored(plane, 5);
    assertThat(plane.purge(SUBJECT, processes.at(plane, 4))).isEqualTo(4);
    var history = new History();

    processes.replay(plane, 2, history);

    assertThat(history.states.next(2)).containsExactly("gap", "caught up");
    assertThat(history.positions.next()).isEqualTo(5);
  }

  @Test
  void anEmptyStreamThatHadMoreIsAGapToo() throws Exception {
    var plane = join();
    publish(join().publisher(SUBJECT), 0, 5);
    processes.awaitStored(plane, 5);
    assertThat(plane.purge(SUBJECT, processes.at(plane, 5))).isEqualTo(5);
    var history = new History();

    processes.replay(plane, 2, history);

    assertThat(history.states.next(2)).containsExactly("gap", "caught up");
  }

  @Test
  void eventsThatAreGoneWhileTheirReaderLagsAreReported() throws Exception {
    var stuck = new StuckHistory();
    var plane = join();
    processes.replay(plane, 0, stuck);
    var publisher = join().publisher(SUBJECT);
    int count = 900; // more than are handed out at a time and wait
    publish(publisher, 0, count);
    assertThat(stuck.begun.await(60, TimeUnit.SECONDS)).isTrue();
    processes.awaitStored(plane, count);

    processes.management().purgeStream(STREAM, PurgeOptions.builder().sequence(count).build());
    stuck.release.countDown();

    var states = new ArrayList<String>();
    Until.holds(
        () -> {
          states.addAll(stuck.states.rest());
          return states.contains("gap") && states.getLast().equals("caught up");
        });
    var heard = stuck.positions.rest();
    assertThat(heard).isSorted().doesNotHaveDuplicates().endsWith((long) count);
    assertThat(heard).hasSizeLessThan(count);
  }

  @Test
  void aResetLeavesNothing() throws Exception {
    var plane = join();
    publish(join().publisher(SUBJECT), 0, 3);
    processes.awaitStored(plane, 3);
    save(plane, 2, new byte[2]);

    plane.reset(SUBJECT);
    plane.reset(SUBJECT);

    assertThat(plane.snapshot(SUBJECT)).isNull();
    assertThat(plane.span(SUBJECT).count()).isZero();
  }
}
