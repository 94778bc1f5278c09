package io.dynamo.router.endpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.config.router.RouterSettings;
import io.dynamo.config.router.RouterSettings.Mode;
import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.WorkerSet;
import io.dynamo.error.NoWorkerException;
import io.dynamo.error.OverloadedException;
import io.dynamo.event.EventSubject;
import io.dynamo.kv.KvEventSource;
import io.dynamo.kv.WorkerRank;
import io.dynamo.router.RouteDecision;
import io.dynamo.router.RouteHints;
import io.dynamo.router.RouteRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests of several models whose workers share one endpoint: each request goes to a worker of its
 * model.
 */
class SharedEndpointTest extends RouterHarness {
  private static final int WORKERS_THERE = 6;
  private static final List<String> MODELS = List.of("a", "b", "c");

  private final FakeModelRecords records = new FakeModelRecords();
  private final ModelTraits traitsOfCards = new ModelTraits();
  private final Map<Long, String> served = new HashMap<>(); // model by worker, as its card names it
  private final Map<Long, Set<String>> adapters = new HashMap<>();
  private Discovery.@Nullable Handle following;

  @BeforeEach
  void follow() {
    cards = traitsOfCards;
    following = traitsOfCards.follow(records, _ -> {});
  }

  @AfterEach
  void close() {
    if (following != null) {
      following.close();
    }
  }

  private void serve(long worker, String model) {
    records.add(FakeModelRecords.record(ENDPOINT, new InstanceId(worker), model, null));
    served.put(worker, model);
  }

  private void withdraw(long worker) {
    var model = served.remove(worker);
    if (model != null) {
      records.lose(FakeModelRecords.record(ENDPOINT, new InstanceId(worker), model, null));
    }
  }

  private void load(long worker, String adapter) {
    records.add(FakeModelRecords.record(ENDPOINT, new InstanceId(worker), adapter, adapter));
    adapters.computeIfAbsent(worker, _ -> new HashSet<>()).add(adapter);
  }

  private void unload(long worker, String adapter) {
    records.lose(FakeModelRecords.record(ENDPOINT, new InstanceId(worker), adapter, adapter));
    adapters.computeIfPresent(
        worker, (_, loaded) -> loaded.remove(adapter) && loaded.isEmpty() ? null : loaded);
  }

  private static WorkerSet of(String model) {
    return WorkerSet.of(FakeModelRecords.record(ENDPOINT, new InstanceId(0), model, null));
  }

  private static RouteRequest ask(String model, int[] tokens, RouteHints hints, long... excluded) {
    var failed = new HashSet<InstanceId>();
    LongStream.of(excluded).forEach(id -> failed.add(new InstanceId(id)));
    return new RouteRequest(
        "r",
        of(model),
        tokens,
        BLOCK_TOKENS,
        failed,
        hints,
        Deadline.after(Duration.ofMinutes(1)),
        new Cancellation());
  }

  private static RouteRequest ask(String model, int[] tokens, long... excluded) {
    return ask(model, tokens, RouteHints.NONE, excluded);
  }

  private boolean serves(long worker, String asked) {
    return asked.equals(served.get(worker))
        || (served.containsKey(worker) && adapters.getOrDefault(worker, Set.of()).contains(asked));
  }

  private static EnumSet<Mode> modes() {
    return EnumSet.copyOf(FREE_MODES);
  }

  /**
   * Models, adapters and workers are added and removed between the requests; decisions stay open a
   * while.
   */
  @ParameterizedTest
  @EnumSource(Mode.class)
  void everyModeChoosesAWorkerOfTheModelOrNone(Mode mode) {
    var random = new Random(mode.name().hashCode());
    var live = new ArrayList<>(LongStream.rangeClosed(1, WORKERS_THERE).boxed().toList());
    var open = new ArrayList<RouteDecision>();
    workers.set(live.stream().mapToLong(Long::longValue).toArray());
    long id = 0;
    int placed = 0;
    int refused = 0;
    try (var router = router(mode)) {
      for (int step = 0; step < 2000; step++) {
        long worker = 1L + random.nextInt(WORKERS_THERE);
        switch (random.nextInt(12)) {
          case 0 -> withdraw(worker);
          case 1, 2 -> serve(worker, MODELS.get(random.nextInt(MODELS.size())));
          case 3 -> load(worker, "lora");
          case 4 -> unload(worker, "lora");
          case 5 -> {
            if (live.remove(worker)) {
              adapters.remove(worker); // its process ends, and all its cards are lost
              records.lose(
                  FakeModelRecords.record(ENDPOINT, new InstanceId(worker), "lora", "lora"));
              withdraw(worker);
            } else {
              live.add(worker);
            }
            workers.set(live.stream().mapToLong(Long::longValue).sorted().toArray());
          }
          case 6 -> router.prepare(ENDPOINT);
          case 7 -> stored(worker, 0, ++id, prompt(0, 4 * (1 + random.nextInt(10))));
          default -> {
            var asked = random.nextInt(4) == 0 ? "lora" : MODELS.get(random.nextInt(3));
            var excluded = random.nextBoolean() ? new long[] {worker} : new long[0];
            var hints =
                mode == Mode.DIRECT || random.nextInt(5) == 0
                    ? RouteHints.pinnedTo(new InstanceId(worker), null)
                    : RouteHints.NONE;
            var there =
                live.stream()
                    .filter(one -> serves(one, asked))
                    .filter(one -> excluded.length == 0 || one != worker)
                    .filter(one -> hints.pinnedWorker() == null || one == worker)
                    .toList();
            try {
              var decision = router.route(ask(asked, prompt(0, 40), hints, excluded));
              assertThat(there).as("%s for %s", mode, asked).contains(worker(decision));
              assertThat(router.recent(1).getFirst().candidates())
                  .as("explained")
                  .allMatch(it -> serves(it.rank().worker().value(), asked));
              assertThat(router.recent(1).getFirst().model()).isEqualTo(asked);
              open.add(decision);
              placed++;
            } catch (NoWorkerException nobody) {
              // of two models with the same adapter loaded, one answers for it
              if (!asked.equals("lora")) {
                assertThat(there).as("%s for %s: %s", mode, asked, nobody.getMessage()).isEmpty();
              }
              refused++;
            }
            if (open.size() > 20) {
              open.remove(random.nextInt(open.size())).close();
            }
          }
        }
      }
      open.forEach(RouteDecision::close);
    }
    assertThat(placed).isGreaterThan(20);
    assertThat(refused).isPositive();
    assertThat(workers.listeners()).isEmpty();
    assertThat(plane.subscribed()).isEmpty();
  }

  @Test
  void anInstanceIsNoCandidateBeforeItsCardIsThereNorAfterItIsGone() {
    workers.set(1, 2);
    serve(1, "a");
    for (var mode : modes()) {
      try (var router = router(mode)) {
        assertThat(worker(router.route(ask("a", prompt(0, 8))))).isEqualTo(1);
        assertThatExceptionOfType(NoWorkerException.class)
            .isThrownBy(() -> router.route(ask("a", prompt(0, 8), 1)));
        serve(2, "a");
        assertThat(worker(router.route(ask("a", prompt(0, 8), 1)))).isEqualTo(2);
        withdraw(2);
        assertThatExceptionOfType(NoWorkerException.class)
            .isThrownBy(() -> router.route(ask("a", prompt(0, 8), 1)));
        assertThatExceptionOfType(NoWorkerException.class)
            .isThrownBy(() -> router.route(ask("b", prompt(0, 8))))
            .withMessageContaining("b at " + ENDPOINT);
      }
    }
  }

  @Test
  void turnsOfOneModelAreNotTakenByAnother() {
    workers.set(1, 2, 3, 4);
    serve(1, "a");
    serve(2, "b");
    serve(3, "a");
    serve(4, "b");
    try (var router = router(Mode.ROUND_ROBIN)) {
      var chosen = new ArrayList<Long>();
      for (int i = 0; i < 4; i++) {
        try (var a = router.route(ask("a", prompt(0, 8)));
            var b = router.route(ask("b", prompt(0, 8)))) {
          chosen.add(worker(a));
          chosen.add(worker(b));
        }
      }
      assertThat(chosen).containsExactly(1L, 2L, 3L, 4L, 1L, 2L, 3L, 4L);
    }
  }

  @Test
  void ranksOfAnotherModelAreNotIndexed() {
    workers.set(1, 2);
    serve(1, "a");
    serve(2, "b");
    try (var serving = router(Mode.KV)) {
      serving.prepare(ENDPOINT);
      assertThat(plane.subscribed()).contains(new EventSubject(ENDPOINT, KvEventSource.TOPIC));
      stored(1, 0, 1, prompt(0, 40));
      stored(2, 0, 1, prompt(1000, 80));
      try (var a = serving.route(ask("a", prompt(0, 40)));
          var b = serving.route(ask("b", prompt(1000, 80)));
          var foreign = serving.route(ask("a", prompt(1000, 80)))) {
        assertThat(a.overlapBlocks()).isEqualTo(10);
        assertThat(b.overlapBlocks()).isEqualTo(20);
        assertThat(foreign.overlapBlocks()).as("held by a rank of another model").isZero();
      }
    }
  }

  @Test
  void loadsAndQueuesOfModelsAreApart() {
    workers.set(1, 2);
    serve(1, "a");
    serve(2, "b");
    var queueing =
        new RouterSettings.Queueing(
            0.5, RouterSettings.QueuePolicy.FCFS, 0, Duration.ofMillis(50), Duration.ZERO);
    try (var router = router(RouterSettings.of(Mode.KV).with(queueing))) {
      try (var full = router.route(ask("a", prompt(0, 40_000)))) {
        assertThat(worker(full)).isEqualTo(1);
        assertThatExceptionOfType(OverloadedException.class)
            .isThrownBy(() -> router.route(ask("a", prompt(0, 8))));
        try (var other = router.route(ask("b", prompt(0, 8)))) {
          assertThat(worker(other)).isEqualTo(2);
          assertThat(router.recent(1).getFirst().candidates())
              .singleElement()
              .satisfies(it -> assertThat(it.requests()).isZero());
        }
        var rank = new WorkerRank(new InstanceId(1), 0);
        assertThat(router.prefillTokens(ENDPOINT, rank)).isEqualTo(40_000);
      }
    }
  }

  @Test
  void thresholdsSetBeforeAModelIsServedHoldForIt() {
    var few = new RouterSettings.Busy(null, 10L, null);
    try (var router = router(Mode.KV)) {
      router.setThresholds(router.place(of("a")), few);
      workers.set(1);
      serve(1, "a");
      assertThat(router.thresholds(of("a"))).isEqualTo(few);
      router.prepare(ENDPOINT);
      assertThat(router.thresholds(of("a"))).isEqualTo(few);
    }
  }

  @Test
  void aModelIsBusyWhenItsOwnWorkersAre() {
    workers.set(1, 2);
    serve(1, "a");
    serve(2, "b");
    var few = new RouterSettings.Busy(null, 10L, null);
    try (var router = router(Mode.KV)) {
      router.setThresholds(router.place(of("a")), few);
      assertThat(router.thresholds(of("a"))).isEqualTo(few);
      assertThat(router.thresholds(of("b"))).isEqualTo(RouterSettings.Busy.STANDARD);
      router.setThresholds(router.place(of("b")), few);
      try (var full = router.route(ask("a", prompt(0, 400)))) {
        assertThat(full).isNotNull();
        assertThat(router.allBusy(of("a"))).isTrue();
        assertThat(router.allBusy(of("b"))).isFalse();
        assertThat(router.allBusy(of("nobody's"))).isFalse();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aSessionStaysWithTheWorkersOfEachModel(boolean hard) {
    workers.set(1, 2, 3, 4);
    serve(1, "a");
    serve(2, "b");
    serve(3, "a");
    serve(4, "b");
    var sessions =
        new RouterSettings.Sessions(
            Duration.ofMinutes(1),
            hard ? RouterSettings.SessionMode.HARD : RouterSettings.SessionMode.SOFT);
    try (var router = router(RouterSettings.of(Mode.ROUND_ROBIN).with(sessions))) {
      var chosen = new HashSet<Long>();
      for (int i = 0; i < 6; i++) {
        for (var model : List.of("a", "b")) {
          try (var decision =
              router.route(ask(model, prompt(0, 8), SessionRoutingTest.session("s")))) {
            chosen.add(worker(decision));
          }
        }
      }
      assertThat(chosen).containsExactlyInAnyOrder(1L, 2L);
    }
  }

  @Test
  void theRouterOfAModelGoesWithItsLastCard() {
    workers.set(1, 2);
    serve(1, "a");
    serve(2, "b");
    try (var router = router(Mode.KV)) {
      router.prepare(ENDPOINT);
      int listening = plane.subscribed().size();
      withdraw(1);
      router.prepare(ENDPOINT);
      assertThat(plane.subscribed()).as("of one model less").hasSize(listening / 2);
      withdraw(2);
      router.prepare(ENDPOINT);
      assertThat(plane.subscribed()).isEmpty();
      assertThat(workers.listeners()).as("the gauges of the endpoint").hasSize(1);
    }
    assertThat(workers.listeners()).isEmpty();
  }
}
