package io.dynamo.router.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.config.router.RouterSettings;
import io.dynamo.config.router.RouterSettings.Mode;
import io.dynamo.discovery.InstanceId;
import io.dynamo.event.LinkListener;
import io.dynamo.kv.KvEventSource;
import io.dynamo.kv.SequenceEvent;
import io.dynamo.kv.SequenceFreed;
import io.dynamo.kv.WorkerRank;
import io.dynamo.router.RouteDecision;
import io.dynamo.router.RouteExplanation;
import io.dynamo.router.RouteRequest;
import io.dynamo.token.BlockHashes;
import io.dynamo.wire.kv.SequenceEventCodec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Property tests of the router as a whole. */
@Timeout(60)
class RoutePropertiesTest extends RouterHarness {
  private static final int WORKERS = 8;

  private static final int PREFIXES = 10;

  private static final int PROMPT_BLOCKS = 12;

  /** Returns a prompt with one of a few long prefixes, the first far more often than the last. */
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
   * The bound: with credit c and scale 1, the load of a rank (booked prefill, in blocks, and active
   * blocks) is at most that of any other plus (c + 3) prompts. The chosen rank's cost is at least
   * its load and a prompt less the credit of one prompt times c; any other's is at most its load
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
          decision.prefillDone(); // lowers this load; the bound of the others is from before
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

  /**
   * The same bound at each step, for the worst case: every prompt but its last block is cached on
   * one worker, and no load is released.
   */
  @Test
  void oneHotPrefixDrawsNoMoreThanTheBoundToItsWorker() {
    workers.set(1, 2, 3, 4);
    try (var router = router(Mode.KV)) {
      router.prepare(ENDPOINT);
      stored(1, 0, 1, prompt(0, PROMPT_BLOCKS * BLOCK_TOKENS));
      for (int i = 0; i < 400; i++) {
        var tokens = prompt(0, PROMPT_BLOCKS * BLOCK_TOKENS);
        tokens[tokens.length - 1] = 1000 + i;
        var decision = router.route(request(tokens));
        var candidates = router.recent(1).getFirst().candidates();
        double least =
            candidates.stream().mapToDouble(RoutePropertiesTest::load).min().orElseThrow();
        for (var candidate : candidates) {
          double more = candidate.rank().equals(decision.rank()) ? 2 * PROMPT_BLOCKS : 0;
          assertThat(load(candidate) + more)
              .as("%d: %s", i, candidate)
              .isLessThanOrEqualTo(least + 4 * PROMPT_BLOCKS);
        }
      }
    }
  }

  /** Returns the load of a rank in blocks. */
  private static double load(RouteExplanation.Candidate candidate) {
    return candidate.prefillTokens() / (double) BLOCK_TOKENS + candidate.activeBlocks();
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
      var way = (LinkListener) plane.listeners(KvEventSource.TOPIC).getFirst();
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

  /** The ways in which a request ends. */
  private enum End {
    CLOSED,
    CLOSED_TWICE,
    CLOSED_BY_TWO_THREADS,
    PREFILLED_AND_CLOSED,
    WORKER_LOST,
    LEAKED
  }

  /**
   * Compares the loads that each decision sees with a model: a load that is released twice or never
   * shows at the next decision.
   */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 5, 8})
  void aBookedLoadIsGivenBackOnceWhateverEndsTheRequest(long seed) {
    var nanos = new AtomicLong();
    nanoClock = nanos::get;
    var random = new Random(seed);
    var all = new long[] {1, 2, 3, 4};
    workers.set(all);
    var tracking =
        new RouterSettings.Tracking(true, false, true, true, true, Duration.ofMinutes(5));
    var never =
        new RouterSettings.Queueing(
            Double.POSITIVE_INFINITY,
            RouterSettings.QueuePolicy.FCFS,
            0,
            Duration.ofSeconds(1),
            Duration.ZERO);
    var open = new LinkedHashMap<RouteDecision, String>();
    var prefilled = new HashSet<RouteDecision>();
    var ended = new ArrayList<String>();
    try (var router = router(RouterSettings.of(Mode.KV).with(tracking).with(never))) {
      for (int i = 0; i < 300; i++) {
        var id = "r" + i;
        var tokens = prompt(1000 * random.nextInt(3), 4 * (1 + random.nextInt(10)));
        var decision =
            router.route(
                new RouteRequest(id, RouterHarness.WORKERS, tokens, BLOCK_TOKENS, Set.of()));
        checkLoad(router.of(id).orElseThrow(), open.keySet(), prefilled);
        open.put(decision, id);
        var one = open.keySet().stream().skip(random.nextInt(open.size())).findFirst();
        var ending = one.orElseThrow();
        switch (End.values()[random.nextInt(End.values().length)]) {
          case CLOSED -> ending.close();
          case CLOSED_TWICE -> {
            ending.close();
            ending.close();
          }
          case CLOSED_BY_TWO_THREADS -> {
            var other = CompletableFuture.runAsync(ending::close);
            ending.close();
            other.join();
          }
          case PREFILLED_AND_CLOSED -> {
            ending.prefillDone();
            if (random.nextBoolean()) {
              prefilled.add(ending);
              continue;
            }
            ending.prefillDone();
            ending.close();
            ending.prefillDone();
          }
          case WORKER_LOST -> {
            long lost = ending.rank().worker().value();
            workers.set(LongStream.of(all).filter(worker -> worker != lost).toArray());
            workers.set(all);
            ended.addAll(closed(open, lost));
            continue;
          }
          case LEAKED -> {
            continue;
          }
        }
        ended.add(Objects.requireNonNull(open.remove(ending)));
      }
      nanos.addAndGet(Duration.ofMinutes(5).toNanos()); // leaked bookings expire
      router.route(request(prompt(0, 40))).close();
      checkLoad(router.recent(1).getFirst(), Set.of(), Set.of());
    }
    var freed =
        plane.published().stream()
            .filter(message -> message.topic().equals(SequenceEvent.TOPIC))
            .flatMap(message -> SequenceEventCodec.decode(message.payload()).stream())
            .filter(SequenceFreed.class::isInstance)
            .map(SequenceEvent::requestId)
            .toList();
    ended.add("r"); // the last request
    assertThat(freed)
        .as("other routers hear of each end once")
        .containsExactlyInAnyOrderElementsOf(ended);
  }

  /** Closes the requests that ran on the lost worker, as their frontends do when the tokens end. */
  private static List<String> closed(Map<RouteDecision, String> open, long lost) {
    var ids = new ArrayList<String>();
    for (var decision : List.copyOf(open.keySet())) {
      if (decision.rank().worker().value() == lost) {
        decision.prefillDone();
        decision.close();
        ids.add(Objects.requireNonNull(open.remove(decision)));
      }
    }
    return ids;
  }

  private static void checkLoad(
      RouteExplanation explained, Set<RouteDecision> open, Set<RouteDecision> prefilled) {
    for (var candidate : explained.candidates()) {
      var there = open.stream().filter(it -> it.rank().equals(candidate.rank())).toList();
      assertThat(candidate.requests()).as("%s", candidate).isEqualTo(there.size());
      if (prefilled.containsAll(there)) {
        assertThat(candidate.prefillTokens()).as("%s", candidate).isZero();
      }
      if (there.isEmpty()) {
        assertThat(candidate.activeBlocks()).as("%s", candidate).isZero();
      } else {
        assertThat(candidate.activeBlocks()).as("%s", candidate).isPositive();
      }
    }
  }
}
