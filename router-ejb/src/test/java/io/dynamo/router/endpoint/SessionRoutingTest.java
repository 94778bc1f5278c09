package io.dynamo.router.endpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dynamo.config.router.RouterSettings;
import io.dynamo.discovery.InstanceId;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.OverloadedException;
import io.dynamo.kv.SessionBinding;
import io.dynamo.kv.WorkerRank;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.RouterMetrics;
import io.dynamo.router.RouteHints;
import io.dynamo.router.RouteOverride;
import io.dynamo.wire.kv.SessionBindingCodec;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests that the requests of one session go to the rank of its first request. */
class SessionRoutingTest extends RouterHarness {
  private RouterSettings withSessions(RouterSettings.SessionMode mode) {
    return RouterSettings.of(RouterSettings.Mode.KV)
        .with(new RouterSettings.Sessions(Duration.ofMinutes(1), mode));
  }

  static RouteHints session(String id) {
    return RouteHints.NONE.ofSession(id);
  }

  @Test
  void aSessionStaysWithItsRankUntilItHasBeenIdle() {
    var nanos = new AtomicLong();
    nanoClock = nanos::get;
    workers.set(1, 2, 3, 4);
    try (var router = router(withSessions(RouterSettings.SessionMode.HARD))) {
      var first = router.route(request(prompt(0, 400), session("s")));
      long home = worker(first);
      for (int i = 0; i < 5; i++) {
        assertThat(routed(router, session("s"))).isEqualTo(home);
      }
      nanos.addAndGet(Duration.ofSeconds(200).toNanos());
      assertThat(routed(router, session("s"))).as("one is still open").isEqualTo(home);
      first.close();
      nanos.addAndGet(Duration.ofSeconds(59).toNanos());
      assertThat(routed(router, session("s"))).isEqualTo(home);
      nanos.addAndGet(Duration.ofMinutes(1).toNanos());
      try (var busy =
          router.route(request(prompt(0, 4000), RouteHints.pinnedTo(new InstanceId(home), null)))) {
        assertThat(routed(router, session("s"))).isNotEqualTo(worker(busy));
      }
    }
  }

  @Test
  void aSessionMovesWhenItsWorkerIsGoneOrHasFailedIt() {
    workers.set(1, 2);
    try (var router = router(withSessions(RouterSettings.SessionMode.HARD))) {
      long home = routed(router, session("s"));
      long other = 3 - home;
      assertThat(routed(router, session("s"), home)).isEqualTo(other);
      assertThat(routed(router, session("s"))).isEqualTo(other);
      workers.set(home);
      assertThat(routed(router, session("s"))).isEqualTo(home);
    }
  }

  @Test
  void routersOfOneEndpointShareTheirSessions() {
    workers.set(1, 2, 3, 4);
    try (var router = router(withSessions(RouterSettings.SessionMode.HARD))) {
      router.prepare(ENDPOINT);
      var binding = new SessionBinding("s", new InstanceId(3), 0, 1, new InstanceId(0xbeef));
      plane.tell(0xbeef, SessionBinding.TOPIC, SessionBindingCodec.encode(binding));
      stored(2, 0, 1, prompt(0, 8));
      assertThat(routed(router, session("s"))).as("against its prefix").isEqualTo(3);

      var news = plane.published().getLast();
      assertThat(news.topic()).isEqualTo(SessionBinding.TOPIC);
      assertThat(SessionBindingCodec.decode(news.payload()))
          .isEqualTo(new SessionBinding("s", new InstanceId(3), 0, 1, sources.instanceId()));
    }
  }

  @Test
  void anotherRouterMayNameAWorkerWithoutItsRank() {
    workers.set(1, 2);
    range = new RankRange(0, 2);
    try (var router = router(withSessions(RouterSettings.SessionMode.HARD))) {
      router.prepare(ENDPOINT);
      var binding = new SessionBinding("s", new InstanceId(2), null, 1, new InstanceId(0xbeef));
      plane.tell(0xbeef, SessionBinding.TOPIC, SessionBindingCodec.encode(binding));
      WorkerRank home;
      try (var first = router.route(request(prompt(0, 8), session("s")))) {
        home = first.rank();
        assertThat(home.worker().value()).isEqualTo(2);
      }
      for (int i = 0; i < 5; i++) {
        try (var next = router.route(request(prompt(100 * i, 8), session("s")))) {
          assertThat(next.rank()).isEqualTo(home);
        }
      }
    }
  }

  @Test
  void aPinThatContradictsTheSessionIsRefused() {
    workers.set(1, 2);
    try (var router = router(withSessions(RouterSettings.SessionMode.HARD))) {
      long home = routed(router, session("s"));
      var other = RouteHints.pinnedTo(new InstanceId(3 - home), null).ofSession("s");
      assertThatExceptionOfType(InvalidRequestException.class)
          .isThrownBy(() -> routed(router, other))
          .withMessageContaining("session");
      var same = RouteHints.pinnedTo(new InstanceId(home), null).ofSession("s");
      assertThat(routed(router, same)).isEqualTo(home);
    }
  }

  @Test
  void aHomeThatDoesNotFitIsLeft() {
    workers.set(1, 2);
    try (var router = router(withSessions(RouterSettings.SessionMode.HARD))) {
      long home = routed(router, session("s"));
      long other = 3 - home;
      var elsewhere =
          new RouteHints(
              null,
              null,
              Set.of(new InstanceId(other)),
              Set.of(),
              Map.of(),
              null,
              null,
              null,
              0,
              0,
              null,
              "s",
              RouteOverride.NONE);
      assertThat(routed(router, elsewhere)).as("not allowed").isEqualTo(other);
      traits.put(other, WorkerTraits.of(new RankRange(4, 2)));
      traits.put(home, new WorkerTraits(RankRange.ONE, 0, 0, Set.of("t"), Set.of("lora")));
      try (var moved = router.route(request(prompt(0, 8), session("s")))) {
        assertThat(moved.rank()).as("rank 0 is gone").isNotEqualTo(rank(other, 0));
      }
      traits.put(other, WorkerTraits.of(RankRange.ONE));
      try (var there = router.route(request(prompt(0, 8), elsewhere))) {
        assertThat(worker(there)).isEqualTo(other);
      }
      var adapter =
          new RouteHints(
              null,
              null,
              null,
              Set.of("t"),
              Map.of(),
              "lora",
              null,
              null,
              0,
              0,
              null,
              "s",
              RouteOverride.NONE);
      assertThat(routed(router, adapter)).as("taint and adapter").isEqualTo(home);
    }
  }

  private static WorkerRank rank(long worker, int rank) {
    return new WorkerRank(new InstanceId(worker), rank);
  }

  @Test
  void aBusyHomeRefusesAHardSessionAndMovesASoftOne() {
    for (var mode : RouterSettings.SessionMode.values()) {
      workers.set(1, 2);
      var settings = withSessions(mode).with(new RouterSettings.Busy(null, 100L, null));
      try (var router = router(settings)) {
        long home = routed(router, session("s"));
        var pinned = RouteHints.pinnedTo(new InstanceId(home), null);
        try (var busy = router.route(request(prompt(0, 400), pinned))) {
          assertThat(worker(busy)).isEqualTo(home);
          if (mode == RouterSettings.SessionMode.HARD) {
            assertThatExceptionOfType(OverloadedException.class)
                .isThrownBy(() -> routed(router, session("s")));
          } else {
            assertThat(routed(router, session("s"))).isEqualTo(3 - home);
          }
        }
      }
    }
  }

  @Test
  @Timeout(20)
  void aSoftSessionDoesNotWaitForItsHome() {
    workers.set(1, 2);
    for (long id = 1; id <= 2; id++) {
      traits.put(id, new WorkerTraits(RankRange.ONE, 10, 0, Set.of(), Set.of()));
    }
    var settings =
        withSessions(RouterSettings.SessionMode.SOFT)
            .with(
                new RouterSettings.Queueing(
                    4, RouterSettings.QueuePolicy.FCFS, 10, Duration.ofMinutes(5), Duration.ZERO));
    try (var router = router(settings)) {
      long home = routed(router, session("s"));
      var pinned = RouteHints.pinnedTo(new InstanceId(home), null);
      try (var busy = router.route(request(prompt(0, 400), pinned))) {
        assertThat(worker(busy)).isEqualTo(home);
        assertThat(routed(router, session("s"))).isEqualTo(3 - home);
        assertThat(routed(router, session("s"))).as("and lives there now").isEqualTo(3 - home);
      }
    }
    var received =
        metrics.counter(
            RouterMetrics.ADMISSION_RECEIVED,
            new Label("model", WORKERS.model()),
            new Label("worker_type", "decode"),
            new Label("policy_class", "default"));
    assertThat(received.value()).as("each request once").isEqualTo(4);
  }
}
