package io.dynamo.router.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.config.router.RouterSettings;
import io.dynamo.config.router.RouterSettings.Mode;
import io.dynamo.event.EventSubject;
import io.dynamo.kv.KvEventSource;
import io.dynamo.metrics.RouterMetrics;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Tests of predicted caches, where no events arrive. */
class BelievedCacheTest extends RouterHarness {
  @Test
  void withoutEventsTheRoutersOwnDecisionsAreBelievedForAWhile() {
    var nanos = new AtomicLong();
    nanoClock = nanos::get;
    workers.set(1, 2, 3, 4);
    var settings =
        RouterSettings.of(Mode.KV)
            .with(new RouterSettings.Indexing(false, Duration.ofSeconds(2), null));
    try (var router = router(settings)) {
      router.prepare(ENDPOINT);
      assertThat(plane.subscribed())
          .as("no KV events are asked for")
          .doesNotContain(new EventSubject(ENDPOINT, KvEventSource.TOPIC));
      var first = router.route(request(prompt(0, 40)));
      var home = first.rank();
      first.close();
      try (var again = router.route(request(prompt(0, 42)))) {
        assertThat(again.rank()).isEqualTo(home);
        assertThat(again.overlapBlocks()).isEqualTo(10);
      }
      nanos.addAndGet(Duration.ofSeconds(3).toNanos());
      try (var later = router.route(request(prompt(0, 40)))) {
        assertThat(later.overlapBlocks()).isZero();
      }
      workers.set(LongStream.of(1, 2, 3, 4).filter(id -> id != home.worker().value()).toArray());
      workers.set(1, 2, 3, 4);
      try (var cold = router.route(request(prompt(0, 40)))) {
        assertThat(cold.rank().equals(home) ? cold.overlapBlocks() : 0).isZero();
      }
    }
  }

  @Test
  void withoutEventsARanksRoomSaysWhatItStillHas() {
    var nanos = new AtomicLong();
    nanoClock = nanos::get;
    workers.set(1);
    traits.put(1L, new WorkerTraits(RankRange.ONE, 0, 12, Set.of(), Set.of()));
    var settings =
        RouterSettings.of(Mode.KV)
            .with(
                new RouterSettings.Indexing(
                    false,
                    Duration.ofSeconds(2),
                    null,
                    RouterSettings.CachePolicy.LRU,
                    RouterSettings.IndexSharing.NONE));
    try (var router = router(settings)) {
      router.prepare(ENDPOINT);
      router.route(request(prompt(0, 40))).close();
      nanos.addAndGet(Duration.ofHours(1).toNanos());
      try (var again = router.route(request(prompt(0, 40)))) {
        assertThat(again.overlapBlocks()).as("time alone takes nothing").isEqualTo(10);
      }
      router.route(request(prompt(1000, 20))).close();
      try (var later = router.route(request(prompt(0, 40)))) {
        assertThat(later.overlapBlocks()).as("12 blocks less the 5 of another").isEqualTo(7);
      }
      traits.put(1L, WorkerTraits.of(RankRange.ONE));
      router.route(request(prompt(5000, 8))).close();
      nanos.addAndGet(Duration.ofSeconds(3).toNanos());
      try (var forgotten = router.route(request(prompt(5000, 8)))) {
        assertThat(forgotten.overlapBlocks()).as("unknown room: by time").isZero();
      }
      assertThat(metrics.counter(RouterMetrics.ROOM_FALLBACKS).value()).isEqualTo(2);
    }
  }

  @Test
  void besideEventsADecisionIsBelievedUntilItsEventsCome() {
    workers.set(1, 2);
    var settings =
        RouterSettings.of(Mode.KV)
            .with(new RouterSettings.Indexing(true, Duration.ofMinutes(2), Duration.ofSeconds(5)));
    try (var router = router(settings)) {
      router.prepare(ENDPOINT);
      var first = router.route(request(prompt(0, 40)));
      first.close();
      try (var again = router.route(request(prompt(0, 40)))) {
        assertThat(again.rank()).isEqualTo(first.rank());
        assertThat(again.overlapBlocks()).isEqualTo(10);
      }
    }
  }

  @Test
  void ofWorkersThatKeepPrefixesWithoutEventsTheRoutersOwnDecisionsAreBelieved() {
    var nanos = new AtomicLong();
    nanoClock = nanos::get;
    workers.set(1, 2, 3, 4);
    for (long id = 1; id <= 4; id++) {
      traits.put(id, unreported(0));
    }
    var settings =
        RouterSettings.of(Mode.KV)
            .with(new RouterSettings.Indexing(true, Duration.ofSeconds(9), Duration.ofSeconds(1)));
    try (var router = router(settings)) {
      router.prepare(ENDPOINT);
      var first = router.route(request(prompt(0, 40)));
      var home = first.rank();
      first.close();
      nanos.addAndGet(Duration.ofSeconds(8).toNanos());
      try (var again = router.route(request(prompt(0, 42)))) {
        assertThat(again.rank()).isEqualTo(home);
        assertThat(again.overlapBlocks()).isEqualTo(10);
      }
      nanos.addAndGet(Duration.ofSeconds(10).toNanos());
      try (var later = router.route(request(prompt(0, 40)))) {
        assertThat(later.overlapBlocks()).isZero();
      }
    }
  }

  @Test
  void aDecisionForAWorkerThatPublishesEventsIsNotBelieved() {
    workers.set(1, 2);
    traits.put(1L, unreported(0));
    try (var router = router(RouterSettings.of(Mode.KV))) {
      router.prepare(ENDPOINT);
      for (int i = 0; i < 16; i++) {
        var prompt = prompt(1000 * i, 40);
        var first = router.route(request(prompt));
        first.close();
        try (var again = router.route(request(prompt))) {
          boolean unreported = first.rank().worker().value() == 1;
          assertThat(again.overlapBlocks()).isEqualTo(unreported ? 10 : 0);
        }
      }
    }
  }

  @Test
  void theRoomOfAWorkerWithoutEventsSaysWhatItStillHas() {
    var nanos = new AtomicLong();
    nanoClock = nanos::get;
    workers.set(1);
    traits.put(1L, unreported(12));
    var settings =
        RouterSettings.of(Mode.KV)
            .with(
                new RouterSettings.Indexing(
                    true,
                    Duration.ofSeconds(2),
                    null,
                    RouterSettings.CachePolicy.LRU,
                    RouterSettings.IndexSharing.NONE));
    try (var router = router(settings)) {
      router.prepare(ENDPOINT);
      router.route(request(prompt(0, 40))).close();
      nanos.addAndGet(Duration.ofHours(1).toNanos());
      try (var again = router.route(request(prompt(0, 40)))) {
        assertThat(again.overlapBlocks()).as("time alone takes nothing").isEqualTo(10);
      }
    }
  }

  private static WorkerTraits unreported(long blocks) {
    return new WorkerTraits(RankRange.ONE, 0, blocks, Set.of(), Set.of(), true);
  }

  @Test
  void withoutCreditThereIsNoIndexAndNothingIsLookedUp() {
    workers.set(1, 2);
    var settings =
        RouterSettings.of(Mode.KV)
            .with(
                new RouterSettings.Costs(
                    0,
                    0,
                    1,
                    0,
                    0.75,
                    0.25,
                    0,
                    RouterSettings.TieBreak.LOAD,
                    RouterSettings.Policy.COST));
    try (var router = router(settings)) {
      router.prepare(ENDPOINT);
      assertThat(plane.subscribed())
          .doesNotContain(new EventSubject(ENDPOINT, KvEventSource.TOPIC));
      router.route(request(prompt(0, 40))).close();
      try (var again = router.route(request(prompt(0, 40)))) {
        assertThat(again.overlapBlocks()).isZero();
      }
    }
  }
}
