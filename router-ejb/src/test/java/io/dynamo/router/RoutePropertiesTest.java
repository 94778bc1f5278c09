package io.dynamo.router;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.config.RouterSettings;
import io.dynamo.config.RouterSettings.Mode;
import io.dynamo.discovery.InstanceId;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.error.NoWorkerException;
import io.dynamo.error.OverloadedException;
import io.dynamo.event.EventSubject;
import io.dynamo.event.LinkListener;
import io.dynamo.kv.KvEventSource;
import io.dynamo.kv.WorkerRank;
import io.dynamo.metrics.Histogram;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.MetricName;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.RouterMetrics;
import io.dynamo.token.BlockHashes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.DoubleSupplier;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What holds of the router as a whole. */
@Timeout(60)
class RoutePropertiesTest extends RouterHarness {
  private static final int WORKERS = 8;
  private static final int PREFIXES = 10;
  private static final int PROMPT_BLOCKS = 12;

  /** A prompt of one of a few long prefixes, the first far more often than the last. */
  private static int[] skewedPrompt(Random random) {
    int prefix = (int) (PREFIXES * Math.pow(random.nextDouble(), 4));
    int shared = 4 + random.nextInt(PROMPT_BLOCKS - 5);
    return IntStream.range(0, PROMPT_BLOCKS * BLOCK_TOKENS)
        .map(
            i ->
                i < shared * BLOCK_TOKENS
                    ? 1000 * (prefix + 1) + i
                    : random.nextInt(1 << 20, 1 << 30))
        .toArray();
  }

  /**
   * The bound: with credit c and scale 1, what a rank has in hand (prefill booked, in blocks, and
   * active blocks) is at most that of any other plus (c + 3) prompts. The chosen rank's cost is at
   * least its load and a prompt less the credit of one prompt times c; any other's at most its load
   * and two prompts (all to prefill, all added). So before the booking the chosen one has at most c
   * + 1 prompts more, and the booking adds at most two.
   */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 5, 8})
  void skewedPrefixesNeverPileUpOnOneWorkerBeyondTheBound(long seed) {
    workers.set(LongStream.rangeClosed(1, WORKERS).toArray());
    var random = new Random(seed);
    try (var router = router(Mode.KV)) {
      router.prepare(ENDPOINT);
      var prefill = new HashMap<Long, Long>(); // worker -> tokens
      var blocks = new HashMap<Long, Set<Long>>();
      var events = new HashMap<Long, Long>();
      LongStream.rangeClosed(1, WORKERS)
          .forEach(
              worker -> {
                prefill.put(worker, 0L);
                blocks.put(worker, new HashSet<>());
              });
      for (int i = 0; i < 400; i++) {
        var tokens = skewedPrompt(random);
        var decision = router.route(request(tokens));
        long worker = decision.rank().worker().value();
        stored(worker, 0, events.merge(worker, 1L, Long::sum), tokens);
        prefill.merge(
            worker, tokens.length - (long) decision.overlapBlocks() * BLOCK_TOKENS, Long::sum);
        var hashes = BlockHashes.of(tokens, BLOCK_TOKENS);
        for (int b = 0; b < hashes.length(); b++) {
          blocks.computeIfAbsent(worker, _ -> new HashSet<>()).add(hashes.sequence(b));
        }
        if (random.nextInt(3) == 0) {
          decision.prefillDone(); // lessens a load: what others may have more is measured before
          prefill.merge(
              worker, -(tokens.length - (long) decision.overlapBlocks() * BLOCK_TOKENS), Long::sum);
        }
      }
      double total = 0;
      double most = 0;
      for (var booked : prefill.entrySet()) {
        double load =
            booked.getValue() / (double) BLOCK_TOKENS
                + blocks.getOrDefault(booked.getKey(), Set.of()).size();
        total += load;
        most = Math.max(most, load);
      }
      assertThat(most / total)
          .isLessThanOrEqualTo(1.0 / WORKERS + 4.0 * PROMPT_BLOCKS / total)
          .isLessThan(0.25);
    }
  }

  @Test
  void anActiveRequestWeightBoundsEvenEqualPrompts() {
    workers.set(1, 2, 3, 4);
    var settings =
        RouterSettings.of(Mode.KV)
            .with(
                new RouterSettings.Costs(
                    1,
                    0,
                    1,
                    1,
                    0.75,
                    0.25,
                    0,
                    RouterSettings.TieBreak.LOAD,
                    RouterSettings.Policy.COST));
    try (var router = router(settings)) {
      router.prepare(ENDPOINT);
      stored(1, 0, 1, prompt(0, 40));
      var counts = new HashMap<WorkerRank, Integer>();
      for (int i = 0; i < 400; i++) {
        var decision = router.route(request(prompt(0, 40)));
        decision.prefillDone();
        counts.merge(decision.rank(), 1, Integer::sum);
      }
      // Requests differ by at most two prompts of 10 blocks and one, at a weight of 1 block each.
      assertThat(counts.values()).hasSize(4).allMatch(count -> count <= 100 + 21);
    }
  }

  private Map<Long, Integer> spread(EndpointRouters router, int requests) {
    var counts = new HashMap<Long, Integer>();
    var open = new ArrayList<RouteDecision>();
    for (int i = 0; i < requests; i++) {
      var decision = router.route(request(prompt(0, 40)));
      assertThat(decision.overlapBlocks()).isZero();
      counts.merge(decision.rank().worker().value(), 1, Integer::sum);
      open.add(decision);
    }
    open.forEach(RouteDecision::close);
    return counts;
  }

  @Test
  void withTheEventPlaneCutOverlapIsZeroAndLoadDecides() {
    workers.set(1, 2, 3, 4);
    var settings =
        RouterSettings.of(Mode.KV)
            .with(
                new RouterSettings.Tracking(
                    true, false, false, true, false, Duration.ofMinutes(5)));
    try (var router = router(settings)) {
      router.prepare(ENDPOINT);
      stored(1, 0, 1, prompt(0, 40));
      try (var decision = router.route(request(prompt(0, 40)))) {
        assertThat(decision.overlapBlocks()).isEqualTo(10);
      }
      var way = (LinkListener) plane.listeners.getFirst();
      way.cut(publisher -> publisher == 10);
      assertThat(spread(router, 40)).containsOnlyKeys(1L, 2L, 3L, 4L).containsValues(10, 10, 10);
      way.linked(publisher -> publisher == 10);
      stored(1, 0, 2, prompt(0, 40));
      try (var decision = router.route(request(prompt(0, 40)))) {
        assertThat(decision.overlapBlocks()).isEqualTo(10);
      }
      sources.lose(
          new KvEventSource(ENDPOINT, new WorkerRank(new InstanceId(1), 0), 10, null).toRecord());
      assertThat(spread(router, 40)).containsOnlyKeys(1L, 2L, 3L, 4L).containsValues(10, 10, 10);
    }
  }

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
      assertThat(plane.subjects)
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
                    false, Duration.ofSeconds(2), null, RouterSettings.CachePolicy.LRU));
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
      assertThat(plane.subjects).doesNotContain(new EventSubject(ENDPOINT, KvEventSource.TOPIC));
      assertThat(spread(router, 1)).hasSize(1);
    }
  }

  private EndpointRouters saturable(RouterSettings.Queueing queueing) {
    workers.set(1, 2);
    for (long id : workers.live.stream().mapToLong(it -> it.id().value()).toArray()) {
      traits.put(id, new WorkerTraits(RankRange.ONE, 10, 0, Set.of(), Set.of()));
    }
    return router(RouterSettings.of(Mode.KV).with(queueing));
  }

  private static RouterSettings.Queueing queueing(Duration timeout) {
    return new RouterSettings.Queueing(
        2, RouterSettings.QueuePolicy.FCFS, 10, timeout, Duration.ofSeconds(10));
  }

  @Test
  void aRequestWaitsWhileEveryRankHasMoreThanItsBatches() throws Exception {
    try (var router = saturable(queueing(Duration.ofSeconds(20)))) {
      var first = router.route(request(prompt(0, 40)));
      var second = router.route(request(prompt(1000, 40)));
      assertThat(first.rank()).isNotEqualTo(second.rank());
      var waits = CompletableFuture.supplyAsync(() -> router.route(request(prompt(2000, 40))));
      var pending = RouterMetrics.QUEUE_REQUESTS;
      while (metrics.level(pending, endpointLabel()).value() == 0 && !waits.isDone()) {
        Thread.onSpinWait();
      }
      assertThat(waits).isNotDone();
      assertThat(router.queued(RouterHarness.ENDPOINT)).isOne();
      second.prefillDone();
      assertThat(waits.get(20, TimeUnit.SECONDS).rank()).isEqualTo(second.rank());
      assertThat(router.queued(RouterHarness.ENDPOINT)).isZero();
    }
  }

  @Test
  void aRequestThatMustNotGoBackHoldsNoOtherUp() throws Exception {
    try (var router = saturable(queueing(Duration.ofSeconds(20)))) {
      var first = router.route(request(prompt(0, 40)));
      var second = router.route(request(prompt(1000, 40)));
      long failed = first.rank().worker().value();
      var moved = waits(router, request(prompt(2000, 40), failed), 1);
      var fresh = waits(router, request(prompt(3000, 40)), 2);
      first.prefillDone();
      assertThat(fresh.get(10, TimeUnit.SECONDS).rank()).isEqualTo(first.rank());
      assertThat(moved).isNotDone();
      second.prefillDone();
      assertThat(moved.get(10, TimeUnit.SECONDS).rank()).isEqualTo(second.rank());
    }
  }

  /** Routes on a thread of its own; returns once {@code pending} requests wait. */
  private CompletableFuture<RouteDecision> waits(
      EndpointRouters router, RouteRequest request, int pending) {
    var routed =
        CompletableFuture.supplyAsync(() -> router.route(request), Thread::startVirtualThread);
    var level = metrics.level(RouterMetrics.QUEUE_REQUESTS, endpointLabel());
    while (level.value() < pending && !routed.isDone()) {
      Thread.onSpinWait();
    }
    return routed;
  }

  private static Label[] endpointLabel() {
    return new Label[] {
      new Label("model", ENDPOINT.toString()),
      new Label("worker_type", "decode"),
      new Label("policy_class", "default")
    };
  }

  @Test
  void noRequestWaitsForEver() {
    try (var router = saturable(queueing(Duration.ofMillis(20)))) {
      var held = new ArrayList<RouteDecision>();
      held.add(router.route(request(prompt(0, 40))));
      held.add(router.route(request(prompt(1000, 40))));
      assertThatExceptionOfType(OverloadedException.class)
          .isThrownBy(() -> router.route(request(prompt(2000, 40))))
          .withMessageContaining("queue-timeout");
      assertThat(held).hasSize(2);
    }
    try (var router = saturable(queueing(Duration.ofMinutes(5)))) {
      var held = new ArrayList<RouteDecision>();
      held.add(router.route(request(prompt(0, 40))));
      held.add(router.route(request(prompt(1000, 40))));
      var hurried =
          new RouteRequest(
              "r",
              ENDPOINT,
              prompt(2000, 40),
              BLOCK_TOKENS,
              Set.of(),
              RouteHints.NONE,
              Deadline.after(Duration.ofMillis(5)),
              new Cancellation());
      assertThatExceptionOfType(DeadlineExceededException.class)
          .isThrownBy(() -> router.route(hurried));
      assertThat(held).hasSize(2);
    }
  }

  @Test
  void thresholdOffNeverWaits() {
    try (var router =
        saturable(
            new RouterSettings.Queueing(
                Double.POSITIVE_INFINITY,
                RouterSettings.QueuePolicy.FCFS,
                0,
                Duration.ofSeconds(1),
                Duration.ZERO))) {
      var open = new ArrayList<RouteDecision>();
      for (int i = 0; i < 20; i++) {
        open.add(router.route(request(prompt(100 * i, 40))));
      }
      assertThat(open).hasSize(20);
    }
  }

  @Test
  void aLostWorkersLoadIsFreedAtOnce() {
    workers.set(1);
    try (var router = router(Mode.KV)) {
      var lost = router.route(request(prompt(0, 400)));
      workers.set(2);
      workers.set(1, 2);
      try (var explained = router.route(request(prompt(5000, 4)))) {
        assertThat(explained).isNotNull();
        assertThat(router.recent(1).getFirst().candidates())
            .allSatisfy(candidate -> assertThat(candidate.requests()).isZero());
      }
      lost.prefillDone();
      lost.close();
      lost.close();
      assertThat(spread(router, 2)).hasSize(2);
    }
  }

  @Test
  void theFirstRequestWaitsForEnoughWorkers() throws Exception {
    workers.set(1);
    var of = RouterSettings.of(Mode.RANDOM);
    var settings =
        new RouterSettings(
            of.mode(),
            of.costs(),
            of.tracking(),
            of.indexing(),
            of.queueing(),
            of.busy(),
            of.sessions(),
            of.explaining(),
            2,
            of.cudaToCpuRatio());
    try (var router = router(settings)) {
      router.prepare(ENDPOINT);
      var waits = CompletableFuture.supplyAsync(() -> router.route(request(prompt(0, 4))));
      assertThat(waits).isNotDone();
      workers.set(1, 2);
      assertThat(waits.get(20, TimeUnit.SECONDS)).isNotNull();
      workers.set(1);
      assertThat(router.route(request(prompt(0, 4)))).as("once is enough").isNotNull();
    }
  }

  @Test
  @Timeout(20)
  void whoWaitsForTheFirstWorkersIsRefusedAtTheEnd() {
    var initial = new InitialWorkers(2, Duration.ofMinutes(1), workers);
    var request = request(prompt(0, 4));
    var thread = new AtomicReference<Thread>();
    var refused =
        CompletableFuture.runAsync(
            () -> initial.await(request),
            task -> thread.set(Thread.ofPlatform().daemon().start(task)));
    var waiter = Objects.requireNonNull(thread.get());
    while (waiter.getState() != Thread.State.TIMED_WAITING && waiter.isAlive()) {
      Thread.onSpinWait();
    }
    initial.close();
    assertThatExceptionOfType(CompletionException.class)
        .isThrownBy(refused::join)
        .withCauseInstanceOf(NoWorkerException.class);
    assertThatExceptionOfType(NoWorkerException.class).isThrownBy(() -> initial.await(request));
  }

  @Test
  void whatBecomesOfRequestsIsMeasured() {
    var recorded = new Recorder();
    metrics.attach(recorded);
    workers.set(1);
    try (var router = router(Mode.KV)) {
      var decision = router.route(request(prompt(0, 40)));
      decision.prefillDone();
      decision.generated(1);
      decision.generated(3);
      decision.close();
      decision.close();
    }
    assertThat(metrics.counter(RouterMetrics.REQUESTS_STARTED).value()).isEqualTo(1);
    assertThat(metrics.counter(RouterMetrics.REQUESTS).value()).isEqualTo(1);
    assertThat(recorded.sum("dynamo_component_router_input_sequence_tokens")).isEqualTo(40);
    assertThat(recorded.sum("dynamo_component_router_output_sequence_tokens")).isEqualTo(4);
    assertThat(recorded.sum("dynamo_component_router_kv_hit_rate")).isZero();
    assertThat(recorded.counts())
        .containsKeys(
            "dynamo_component_router_time_to_first_token_seconds",
            "dynamo_component_router_inter_token_latency_seconds",
            "dynamo_router_overhead_block_hashing_ms",
            "dynamo_router_overhead_indexer_find_matches_ms",
            "dynamo_router_overhead_scheduling_ms",
            "dynamo_router_overhead_total_ms");
  }

  private static final class Recorder implements Metrics.Outlet {
    final Map<String, Histogram> histograms = new HashMap<>();

    @Override
    public void counter(MetricName name, List<Label> labels, Metrics.Counter counter) {}

    @Override
    public void gauge(MetricName name, List<Label> labels, DoubleSupplier value) {}

    @Override
    public void histogram(MetricName name, List<Label> labels, Histogram histogram) {
      histograms.put(name.name(), histogram);
    }

    double sum(String name) {
      return Objects.requireNonNull(histograms.get(name), name).sum();
    }

    /** Of those that something was recorded in by now: a router makes more than it uses. */
    Map<String, Long> counts() {
      var counts = new HashMap<String, Long>();
      histograms.forEach((name, it) -> counts.put(name, it.count()));
      counts.values().removeIf(count -> count == 0);
      return counts;
    }
  }
}
