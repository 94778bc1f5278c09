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
import java.util.ArrayList;
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

  private static void publish(EventPlane.Publisher publisher, int first, int count) {
    for (int i = first; i < first + count; i++) {
      publisher.publish(new byte[] {(byte) i});
    }
  }

  @Test
  void aSnapshotIsReplacedByLaterOnesOnly() throws Exception {
    var plane = join();
    assertThat(plane.snapshot(SUBJECT)).isNull();
    var large = new byte[300_000];
    new Random(1).nextBytes(large);

    assertThat(plane.save(SUBJECT, new EventHistory.Snapshot(10, large))).isTrue();
    assertThat(plane.save(SUBJECT, new EventHistory.Snapshot(9, new byte[1]))).isFalse();

    server.restart();
    Until.holds(() -> alarms.waiting() >= 1);
    var other = join();
    var read = Objects.requireNonNull(other.snapshot(SUBJECT));
    assertThat(read.position()).isEqualTo(10);
    assertThat(read.content()).isEqualTo(large);
    assertThat(other.save(SUBJECT, new EventHistory.Snapshot(11, new byte[2]))).isTrue();
    assertThat(Objects.requireNonNull(other.snapshot(SUBJECT)).content()).hasSize(2);
  }

  @Test
  void ofSnapshotsThatAreSavedAtOnceTheLatestStays() throws Exception {
    var slow = join();
    var fast = join();
    var large = new byte[4 << 20]; // takes its time
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int round = 1; round <= 5; round++) {
        long position = 10L * round;
        var begun = new CountDownLatch(1);
        var earlier =
            threads.submit(
                () -> {
                  begun.countDown();
                  return slow.save(SUBJECT, new EventHistory.Snapshot(position, large));
                });
        assertThat(begun.await(60, TimeUnit.SECONDS)).isTrue();

        assertThat(fast.save(SUBJECT, new EventHistory.Snapshot(position + 1, new byte[1])))
            .isTrue();

        var _ = earlier.get(60, TimeUnit.SECONDS); // true where it was quicker
        var stored = Objects.requireNonNull(fast.snapshot(SUBJECT));
        assertThat(stored.position()).as("round %d", round).isEqualTo(position + 1);
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
    plane.save(SUBJECT, new EventHistory.Snapshot(10, new byte[1]));
    var connection = processes.connection();
    connection.keyValue(BUCKET).put("radix-state", "something else");

    assertThatThrownBy(() -> plane.snapshot(SUBJECT))
        .isInstanceOf(UnreadableSnapshotException.class)
        .hasMessageContaining("names no snapshot with a position but \"something else\"");

    connection.keyValue(BUCKET).put("radix-state", "radix-state-99-gone");
    assertThatThrownBy(() -> plane.snapshot(SUBJECT))
        .isInstanceOf(UnreadableSnapshotException.class)
        .hasMessageContaining("which is not there");

    connection.keyValue(BUCKET).put("radix-state", "something else");
    assertThat(plane.save(SUBJECT, new EventHistory.Snapshot(3, new byte[2]))).isTrue();
    assertThat(Objects.requireNonNull(plane.snapshot(SUBJECT)).position()).isEqualTo(3);
  }

  @Test
  void eventsThatAreGoneBeforeTheyAreReadAreReported() throws Exception {
    var plane = join();
    publish(join().publisher(SUBJECT), 0, 5);
    processes.awaitStored(plane, 5);
    assertThat(plane.purge(SUBJECT, 4)).isEqualTo(4);
    var history = new History();

    plane.replay(SUBJECT, 2, history);

    assertThat(history.states.next(2)).containsExactly("gap", "caught up");
    assertThat(history.positions.next()).isEqualTo(5);
  }

  @Test
  void anEmptyStreamThatHadMoreIsAGapToo() throws Exception {
    var plane = join();
    publish(join().publisher(SUBJECT), 0, 5);
    processes.awaitStored(plane, 5);
    assertThat(plane.purge(SUBJECT, 5)).isEqualTo(5);
    var history = new History();

    plane.replay(SUBJECT, 2, history);

    assertThat(history.states.next(2)).containsExactly("gap", "caught up");
  }

  @Test
  void eventsThatAreGoneWhileTheirReaderLagsAreReported() throws Exception {
    var stuck = new StuckHistory();
    var plane = join();
    plane.replay(SUBJECT, 0, stuck);
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
    plane.save(SUBJECT, new EventHistory.Snapshot(2, new byte[2]));

    plane.reset(SUBJECT);
    plane.reset(SUBJECT);

    assertThat(plane.snapshot(SUBJECT)).isNull();
    assertThat(plane.span(SUBJECT).count()).isZero();
  }
}
