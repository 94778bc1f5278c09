package io.dynamo.router.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.InstanceId;
import io.dynamo.event.EventSubject;
import io.dynamo.kv.SessionBinding;
import io.dynamo.kv.WorkerRank;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.RouterMetrics;
import io.dynamo.router.endpoint.FakeInstances;
import io.dynamo.router.endpoint.FakePlane;
import io.dynamo.wire.event.EventEnvelope;
import io.dynamo.wire.kv.SessionBindingCodec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SessionReplicasTest {
  private static final EventSubject SUBJECT =
      new EventSubject(FakeInstances.ENDPOINT, "session_affinity_events");
  private static final int ROUTERS = 3;
  private static final int WORKERS = 5;

  private final AtomicLong nanos = new AtomicLong();
  private final AtomicLong wall = new AtomicLong(1L << 60);
  private final FakeInstances workers = new FakeInstances();
  private final FakePlane plane = new FakePlane();
  private final Metrics metrics = new Metrics();
  private final List<SessionTable> tables = new ArrayList<>();
  private final List<SessionReplicas> replicas = new ArrayList<>();

  SessionReplicasTest() {
    for (int i = 0; i < ROUTERS; i++) {
      var self = new InstanceId(0xa0 + i);
      var table = new SessionTable(Duration.ofSeconds(60), 100, self, nanos::get, wall::get);
      tables.add(table);
      replicas.add(
          new SessionReplicas(
              FakeInstances.ENDPOINT, self, table, workers, plane, Runnable::run, metrics));
    }
    workers.set(1, 2, 3, 4, 5);
    assertThat(plane.subscribed()).containsOnly(SUBJECT);
    assertThat(plane.publishing()).containsOnly(SUBJECT);
  }

  @AfterEach
  void close() {
    replicas.forEach(SessionReplicas::close);
    replicas.forEach(SessionReplicas::close);
    assertThat(plane.subscribed()).isEmpty();
    assertThat(plane.publishing()).isEmpty();
    assertThat(workers.listeners()).isEmpty();
  }

  private static WorkerRank rank(long worker) {
    return new WorkerRank(new InstanceId(worker), 0);
  }

  private SessionTable.Lease use(int router, String id, long worker) {
    var table = tables.get(router);
    return Objects.requireNonNull(table.lease(id, rank(worker), table.target(id)));
  }

  private void tell(SessionBinding binding) {
    tell(SessionBindingCodec.encode(binding));
  }

  private void tell(byte[] payload) {
    plane.tell(0xbeef, SUBJECT.topic(), payload);
  }

  private long dropped(String reason) {
    return metrics
        .counter(RouterMetrics.SESSION_EVENTS_DROPPED, new Label("reason", reason))
        .value();
  }

  @Test
  void aSessionIsKnownToEveryRouter() {
    use(0, "s", 3).close();
    assertThat(tables.get(1).target("s")).isNull();
    plane.deliver();
    assertThat(tables)
        .extracting(table -> table.target("s"))
        .containsOnly(SessionTarget.of(rank(3)));
  }

  @Test
  void useElsewhereKeepsASession() {
    use(0, "s", 3).close();
    plane.deliver();
    for (int i = 0; i < 5; i++) {
      nanos.addAndGet(Duration.ofSeconds(40).toNanos());
      use(1 + i % 2, "s", 3).close();
      plane.deliver();
    }
    assertThat(tables.get(0).target("s")).isEqualTo(SessionTarget.of(rank(3)));
  }

  @Test
  void aWorkerThatIsNotThereBindsNothingAndOneThatGoesUnbinds() {
    tell(new SessionBinding("s", new InstanceId(99), 0, 1, new InstanceId(7)));
    assertThat(tables.get(0).target("s")).isNull();
    assertThat(dropped("unknown_worker")).isEqualTo(ROUTERS);
    use(0, "s", 3).close();
    plane.deliver();
    workers.set(1, 2);
    assertThat(tables).extracting(table -> table.target("s")).containsOnlyNulls();
  }

  @Test
  void nonsenseIsCountedAndDropped() {
    tell(new byte[] {1, 2, 3});
    tell(new SessionBinding("x".repeat(257), rank(1).worker(), 0, 1, new InstanceId(7)));
    tell(new SessionBinding("", rank(1).worker(), 0, 1, new InstanceId(7)));
    tell(new SessionBinding("s", rank(1).worker(), -1, 1, new InstanceId(7)));
    tell(new SessionBinding("s", rank(1).worker(), 1 << 20, 1, new InstanceId(7)));
    assertThat(dropped("undecodable")).isEqualTo(5L * ROUTERS);
    assertThat(tables).extracting(SessionTable::size).containsOnly(0);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 5, 8})
  void routersConvergeAfterLostAndLateEvents(long seed) {
    var random = new Random(seed);
    var late = new ArrayList<EventEnvelope>();
    for (int step = 0; step < 2_000; step++) {
      wall.addAndGet(random.nextInt(3));
      var id = "s" + random.nextInt(10);
      int router = random.nextInt(ROUTERS);
      var target = tables.get(router).target(id);
      long worker =
          target == null || random.nextInt(10) == 0
              ? 1 + random.nextInt(WORKERS)
              : target.worker().value();
      use(router, id, worker).close();
      Collections.shuffle(plane.waiting(), random);
      switch (random.nextInt(4)) {
        case 0 -> plane.waiting().clear();
        case 1 -> late.addAll(plane.waiting());
        default -> plane.deliver();
      }
    }
    late.forEach(plane::deliver);
    plane.waiting().clear();
    for (int i = 0; i < 10; i++) {
      use(i % ROUTERS, "s" + i, 1 + i % WORKERS).close();
    }
    plane.waiting().clear();
    for (int i = 0; i < 10; i++) { // each router publishes its bindings once more
      for (int router = 0; router < ROUTERS; router++) {
        var target = tables.get(router).target("s" + i);
        if (target != null) {
          use(router, "s" + i, target.worker().value()).close();
        }
      }
    }
    plane.deliver();
    for (int i = 0; i < 10; i++) {
      var id = "s" + i;
      assertThat(tables.stream().map(table -> table.target(id)).distinct()).hasSize(1);
    }
  }
}
