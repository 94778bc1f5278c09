package io.dynamo.worker.kv;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.event.EventSubject;
import io.dynamo.kv.KvEvent;
import io.dynamo.kv.RankEvent;
import io.dynamo.kv.WorkerRank;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.WorkerMetrics;
import io.dynamo.token.SequenceHash;
import io.dynamo.worker.SentPlane;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.Test;

class KvEventPublisherTest {
  private static final InstanceId WORKER = new InstanceId(0x2a);

  private final SentPlane plane = new SentPlane();
  private final List<List<RankEvent>> batches = new ArrayList<>();
  private final Queue<Runnable> tasks = new ArrayDeque<>();
  private final Metrics.Counter dropped = new Metrics().counter(WorkerMetrics.KV_EVENTS_DROPPED);
  private final KvEventPublisher publisher =
      new KvEventPublisher(
          plane, new EndpointId("n", "c", "e"), WORKER, 2, this::encode, tasks::add, dropped, 1000);

  private byte[] encode(List<RankEvent> batch) {
    batches.add(batch);
    return new byte[] {1};
  }

  private void runTasks() {
    for (var task = tasks.poll(); task != null; task = tasks.poll()) {
      task.run();
    }
  }

  @Test
  void idsRiseFromOnePerRank() {
    publisher.cleared(0);
    publisher.removed(0, List.of(new SequenceHash(5)));
    publisher.cleared(1);
    runTasks();
    assertThat(batches)
        .containsExactly(
            List.of(
                new RankEvent(new WorkerRank(WORKER, 0), new KvEvent.Cleared(1)),
                new RankEvent(
                    new WorkerRank(WORKER, 0),
                    new KvEvent.Removed(2, List.of(new SequenceHash(5))))),
            List.of(new RankEvent(new WorkerRank(WORKER, 1), new KvEvent.Cleared(1))));
    assertThat(plane.subjects)
        .hasSize(2)
        .containsOnly(new EventSubject(new EndpointId("n", "c", "e"), "kv-events"));
  }

  @Test
  void batchesHoldAtMost128Events() {
    for (int i = 0; i < 300; i++) {
      publisher.cleared(0);
    }
    assertThat(tasks).as("one task for all").hasSize(1);
    runTasks();
    assertThat(batches).extracting(List::size).containsExactly(128, 128, 44);
  }

  @Test
  void eventsDroppedBeforeSendingAreCountedAndLeaveAGapInIds() {
    for (int i = 0; i < RankLog.KEPT_EVENTS + 3; i++) {
      publisher.cleared(0);
    }
    runTasks();
    assertThat(dropped.value()).isEqualTo(3);
    assertThat(batches.getFirst().getFirst().event().id()).isEqualTo(4);
    assertThat(batches.getLast().getLast().event().id()).isEqualTo(RankLog.KEPT_EVENTS + 3);
    publisher.cleared(0);
    runTasks();
    assertThat(batches.getLast().getFirst().event().id()).isEqualTo(RankLog.KEPT_EVENTS + 4);
  }

  @Test
  void failedMessageIsCountedAndTheNextOneGoesOut() {
    plane.broken = true;
    publisher.cleared(0);
    runTasks();
    assertThat(dropped.value()).isEqualTo(1);
    plane.broken = false;
    publisher.cleared(0);
    runTasks();
    assertThat(plane.sent).hasSize(1);
    assertThat(batches.getLast().getFirst().event().id()).isEqualTo(2);
  }

  @Test
  void closedPublisherSendsNothing() {
    publisher.cleared(0);
    publisher.close();
    publisher.close();
    runTasks();
    assertThat(plane.sent).isEmpty();
    assertThat(plane.closed).isEqualTo(2);
  }
}
