package io.dynamo.router;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.config.RouterSettings;
import io.dynamo.discovery.InstanceId;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.NoWorkerException;
import io.dynamo.error.OverloadedException;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.Handoff;
import io.dynamo.inference.OutputOptions;
import io.dynamo.inference.PassedOn;
import io.dynamo.inference.RoutingHints;
import io.dynamo.inference.SamplingOptions;
import io.dynamo.inference.StopConditions;
import io.dynamo.kv.SessionBinding;
import io.dynamo.kv.WorkerRank;
import io.dynamo.kv.codec.SessionBindingCodec;
import java.math.BigInteger;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What clients say of where their requests go, from the wire to the decision. */
class RouteHintsTest extends RouterHarness {
  private static RouteHints read(
      RoutePhase phase, @Nullable Integer rank, Map<String, Object> routing) {
    return read(phase, rank, routing, Map.of());
  }

  private static RouteHints read(
      RoutePhase phase,
      @Nullable Integer rank,
      Map<String, Object> routing,
      Map<String, Object> others) {
    return read(phase, rank, routing, others, null);
  }

  private static RouteHints read(
      RoutePhase phase,
      @Nullable Integer rank,
      Map<String, Object> routing,
      Map<String, Object> others,
      @Nullable String session) {
    return HintsReader.read(
        new GenerateRequest(
            "m",
            new int[] {1},
            new StopConditions(1, List.of(), List.of(), null, false),
            SamplingOptions.DEFAULTS,
            OutputOptions.DEFAULTS,
            new int[0],
            null,
            List.of(),
            new RoutingHints(rank, PassedOn.of(routing)),
            Map.of(),
            Handoff.NONE,
            PassedOn.of(others)),
        phase,
        session);
  }

  private static RouteRequest request(int[] tokens, RouteHints hints, long... excluded) {
    var failed = new HashSet<InstanceId>();
    for (long id : excluded) {
      failed.add(new InstanceId(id));
    }
    return new RouteRequest(
        "r",
        ENDPOINT,
        tokens,
        BLOCK_TOKENS,
        failed,
        hints,
        Deadline.after(Duration.ofMinutes(1)),
        new Cancellation());
  }

  private static long worker(RouteDecision decision) {
    return decision.rank().worker().value();
  }

  private long routed(EndpointRouters router, RouteHints hints, long... excluded) {
    try (var decision = router.route(request(prompt(0, 8), hints, excluded))) {
      return worker(decision);
    }
  }

  @Test
  void theHeaderNamesTheSessionWhereNothingElseIsSaid() {
    assertThat(read(RoutePhase.DECODE, null, Map.of(), Map.of(), "s"))
        .isEqualTo(RouteHints.NONE.ofSession("s"));
    assertThat(read(RoutePhase.DECODE, null, Map.of(), Map.of(), "")).isEqualTo(RouteHints.NONE);
    var context = Map.<String, Object>of("agent_context", Map.of("session_id", "t"));
    assertThat(read(RoutePhase.DECODE, null, Map.of(), context, "s").sessionId()).isEqualTo("t");
  }

  @Test
  void numbersBeyondAnIntAreTheNearestOne() {
    var big = BigInteger.TWO.pow(70);
    var hints =
        read(
            RoutePhase.DECODE,
            null,
            Map.of("strict_priority", big.negate(), "expected_output_tokens", 1L << 32));
    assertThat(hints.strictPriority()).isEqualTo(Integer.MIN_VALUE);
    assertThat(hints.expectedOutputTokens()).isEqualTo(Integer.MAX_VALUE);
  }

  @Test
  void noHintsAreNone() {
    assertThat(read(RoutePhase.DECODE, null, Map.of())).isSameAs(RouteHints.NONE);
  }

  @Test
  void hintsAreReadByDynamosNames() {
    var big = new BigInteger("17293822569102704641");
    var routing = new HashMap<String, Object>();
    routing.put("backend_instance_id", 1);
    routing.put("decode_worker_id", big);
    routing.put("prefill_worker_id", 3L);
    routing.put("prefill_dp_rank", 5);
    routing.put("expected_output_tokens", 100);
    routing.put("lora_name", "adapter-a");
    routing.put("cache_salt", "tenant-a");
    routing.put("priority_jump", 2.5);
    routing.put("strict_priority", 7);
    routing.put("allowed_worker_ids", List.of(1, big));
    routing.put(
        "routing_constraints",
        Map.of("required_taints", List.of("gpu"), "preferred_taints", Map.of("near", 0.5)));
    var others =
        Map.<String, Object>of(
            "router_config_override",
            Map.of("assume_kv_reuse", false, "overlap_score_credit", 0.5),
            "agent_context",
            Map.of("session_id", "s1"));

    var decode = read(RoutePhase.DECODE, 2, routing, others);
    assertThat(decode)
        .isEqualTo(
            new RouteHints(
                new InstanceId(big.longValue()),
                2,
                Set.of(new InstanceId(1), new InstanceId(big.longValue())),
                Set.of("gpu"),
                Map.of("near", 0.5),
                "adapter-a",
                "tenant-a",
                100,
                2.5,
                7,
                null,
                "s1",
                new RouteOverride(false, null)));
    var prefill = read(RoutePhase.PREFILL, 2, routing, others);
    assertThat(prefill.pinnedWorker()).isEqualTo(new InstanceId(3));
    assertThat(prefill.pinnedRank()).isEqualTo(5);
  }

  @Test
  void theGeneralPinStandsInForThatOfTheHalf() {
    var hints = read(RoutePhase.PREFILL, 4, Map.of("backend_instance_id", 9));
    assertThat(hints.pinnedWorker()).isEqualTo(new InstanceId(9));
    assertThat(hints.pinnedRank()).isEqualTo(4);
  }

  @Test
  void aPriorityBelowZeroIsNone() {
    assertThat(read(RoutePhase.DECODE, null, Map.of("priority", -3)).priorityJumpSeconds())
        .isZero();
  }

  @Test
  void whatMakesNoSenseIsRefused() {
    assertThatExceptionOfType(InvalidRequestException.class)
        .isThrownBy(() -> read(RoutePhase.DECODE, 2, Map.of()))
        .withMessageContaining("without a worker");
    assertThatExceptionOfType(InvalidRequestException.class)
        .isThrownBy(() -> read(RoutePhase.DECODE, null, Map.of("decode_worker_id", "one")));
    assertThatExceptionOfType(InvalidRequestException.class)
        .isThrownBy(
            () ->
                read(
                    RoutePhase.DECODE,
                    null,
                    Map.of(),
                    Map.of("router_config_override", Map.of("router_temperature", -1))));
    assertThatExceptionOfType(InvalidRequestException.class)
        .isThrownBy(
            () ->
                read(
                    RoutePhase.DECODE,
                    null,
                    Map.of(),
                    Map.of("agent_context", Map.of("session_id", "s".repeat(257)))));
  }

  @Test
  void aPinIsFollowedInEveryMode() {
    workers.set(1, 2, 3);
    for (var mode : RouterSettings.Mode.values()) {
      try (var router = router(mode)) {
        for (int i = 0; i < 5; i++) {
          assertThat(routed(router, RouteHints.pinnedTo(new InstanceId(2), null))).isEqualTo(2);
        }
        assertThatExceptionOfType(NoWorkerException.class)
            .isThrownBy(() -> routed(router, RouteHints.pinnedTo(new InstanceId(7), null)));
        assertThatExceptionOfType(NoWorkerException.class)
            .isThrownBy(() -> routed(router, RouteHints.pinnedTo(new InstanceId(2), null), 2));
      }
    }
  }

  @Test
  void aPinnedRankIsFollowedAndMustBeThere() {
    workers.set(1);
    range = new RankRange(0, 4);
    try (var router = router(RouterSettings.Mode.KV)) {
      var hints = RouteHints.pinnedTo(new InstanceId(1), 3);
      try (var decision = router.route(request(prompt(0, 8), hints))) {
        assertThat(decision.rank().rank()).isEqualTo(3);
      }
      assertThatExceptionOfType(NoWorkerException.class)
          .isThrownBy(() -> routed(router, RouteHints.pinnedTo(new InstanceId(1), 4)))
          .withMessageContaining("rank 4");
    }
  }

  @Test
  void modeDirectNeedsAPin() {
    workers.set(1);
    try (var router = router(RouterSettings.Mode.DIRECT)) {
      assertThatExceptionOfType(InvalidRequestException.class)
          .isThrownBy(() -> routed(router, RouteHints.NONE))
          .withMessageContaining("backend_instance_id");
    }
  }

  @Test
  void onlyAllowedWorkersAreCandidates() {
    workers.set(1, 2, 3);
    try (var router = router(RouterSettings.Mode.KV)) {
      var hints = read(RoutePhase.DECODE, null, Map.of("allowed_worker_ids", List.of(3)));
      assertThat(routed(router, hints)).isEqualTo(3);
      var contradiction =
          read(
              RoutePhase.DECODE,
              null,
              Map.of("allowed_worker_ids", List.of(3), "backend_instance_id", 1));
      assertThatExceptionOfType(InvalidRequestException.class)
          .isThrownBy(() -> routed(router, contradiction));
    }
  }

  private void describe(long worker, Set<String> taints, Set<String> adapters) {
    traits.put(worker, new WorkerTraits(RankRange.ONE, 100, 1000, taints, adapters));
  }

  private static Map<String, Object> constraints(List<String> required, Map<String, ?> preferred) {
    return Map.of(
        "routing_constraints", Map.of("required_taints", required, "preferred_taints", preferred));
  }

  @Test
  void requiredTaintsFilterAndPreferredOnesAttract() {
    workers.set(1, 2, 3);
    describe(1, Set.of("a"), Set.of());
    describe(2, Set.of("a", "b"), Set.of());
    describe(3, Set.of(), Set.of());
    try (var router = router(RouterSettings.Mode.KV)) {
      var both = constraints(List.of("a", "b"), Map.of());
      assertThat(routed(router, read(RoutePhase.DECODE, null, both))).isEqualTo(2);
      var near = constraints(List.of("a"), Map.of("b", -1));
      assertThat(routed(router, read(RoutePhase.DECODE, null, near))).isEqualTo(1);
      var nobody = constraints(List.of("z"), Map.of());
      assertThatExceptionOfType(NoWorkerException.class)
          .isThrownBy(() -> routed(router, read(RoutePhase.DECODE, null, nobody)))
          .withMessageContaining("taints");
    }
  }

  @Test
  void anAdapterNarrowsToWorkersThatHaveIt() {
    workers.set(1, 2);
    describe(2, Set.of(), Set.of("adapter-a"));
    try (var router = router(RouterSettings.Mode.ROUND_ROBIN)) {
      var hints = read(RoutePhase.DECODE, null, Map.of("lora_name", "adapter-a"));
      for (int i = 0; i < 4; i++) {
        assertThat(routed(router, hints)).isEqualTo(2);
      }
    }
  }

  @Test
  void aSaltedPromptFindsNoUnsaltedBlocks() {
    workers.set(1, 2);
    try (var router = router(RouterSettings.Mode.KV)) {
      router.prepare(ENDPOINT);
      stored(1, 0, 1, prompt(0, 32));
      var salted = read(RoutePhase.DECODE, null, Map.of("cache_salt", "tenant-a"));
      try (var decision = router.route(request(prompt(0, 32), salted))) {
        assertThat(decision.overlapBlocks()).isZero();
      }
    }
  }

  private RouterSettings withSessions(RouterSettings.SessionMode mode) {
    return RouterSettings.of(RouterSettings.Mode.KV)
        .with(new RouterSettings.Sessions(Duration.ofMinutes(1), mode));
  }

  private static RouteHints session(String id) {
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
      var told = new SessionBinding("s", new InstanceId(3), 0, 1, new InstanceId(0xbeef));
      plane.tell(SessionBinding.TOPIC, SessionBindingCodec.encode(told));
      stored(2, 0, 1, prompt(0, 8));
      assertThat(routed(router, session("s"))).as("against its prefix").isEqualTo(3);

      var news = plane.published.getLast();
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
      var told = new SessionBinding("s", new InstanceId(2), null, 1, new InstanceId(0xbeef));
      plane.tell(SessionBinding.TOPIC, SessionBindingCodec.encode(told));
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
  void whenAllWorkersAreBusyRequestsAreRefused() {
    workers.set(1, 2);
    var settings =
        RouterSettings.of(RouterSettings.Mode.LEAST_LOADED)
            .with(new RouterSettings.Busy(0.5, null, null));
    traits.put(1L, new WorkerTraits(RankRange.ONE, 0, 100, Set.of(), Set.of()));
    traits.put(2L, new WorkerTraits(RankRange.ONE, 0, 100, Set.of(), Set.of()));
    try (var router = router(settings)) {
      router.prepare(ENDPOINT);
      reported(1, 51);
      for (int i = 0; i < 4; i++) {
        assertThat(routed(router, RouteHints.NONE)).isEqualTo(2);
      }
      assertThatExceptionOfType(OverloadedException.class)
          .isThrownBy(() -> routed(router, RouteHints.pinnedTo(new InstanceId(1), null)))
          .withMessageContaining("busy");
      reported(2, 51);
      assertThatExceptionOfType(OverloadedException.class)
          .isThrownBy(() -> routed(router, RouteHints.NONE));
      reported(1, 50);
      assertThatExceptionOfType(OverloadedException.class)
          .as("at the threshold it stays busy")
          .isThrownBy(() -> routed(router, RouteHints.NONE));
      reported(1, 49);
      assertThat(routed(router, RouteHints.NONE)).isEqualTo(1);
    }
  }

  @Test
  void thresholdsMayBeSetWhileRequestsCome() {
    workers.set(1, 2);
    traits.put(1L, new WorkerTraits(RankRange.ONE, 0, 100, Set.of(), Set.of()));
    traits.put(2L, new WorkerTraits(RankRange.ONE, 0, 100, Set.of(), Set.of()));
    try (var router = router(RouterSettings.of(RouterSettings.Mode.ROUND_ROBIN))) {
      assertThat(router.thresholds(ENDPOINT)).isEqualTo(RouterSettings.Busy.STANDARD);
      var half = new RouterSettings.Busy(0.5, null, null);
      router.setThresholds(ENDPOINT, half);
      assertThat(router.thresholds(ENDPOINT)).isEqualTo(half);
      assertThat(router.allBusy(ENDPOINT)).as("nobody has reported").isFalse();
      reported(1, 51);
      assertThat(router.allBusy(ENDPOINT)).isFalse();
      assertThat(routed(router, RouteHints.NONE)).isEqualTo(2);
      reported(2, 51);
      assertThat(router.allBusy(ENDPOINT)).isTrue();
      assertThatExceptionOfType(OverloadedException.class)
          .isThrownBy(() -> routed(router, RouteHints.NONE));
      workers.set();
      assertThat(router.allBusy(ENDPOINT)).as("there is nobody").isFalse();
      workers.set(1, 2);
      router.setThresholds(ENDPOINT, new RouterSettings.Busy(0.9, null, null));
      assertThat(router.allBusy(ENDPOINT)).as("the old latch counts no more").isFalse();
      router.setThresholds(ENDPOINT, RouterSettings.Busy.STANDARD);
      assertThat(routed(router, RouteHints.NONE)).isIn(1L, 2L);
    }
  }
}
