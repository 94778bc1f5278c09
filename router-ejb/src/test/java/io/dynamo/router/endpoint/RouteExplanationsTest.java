package io.dynamo.router.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.dynamo.config.router.RouterSettings;
import io.dynamo.config.router.RouterSettings.Busy;
import io.dynamo.config.router.RouterSettings.Mode;
import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.ActiveLoad;
import io.dynamo.kv.WorkerRank;
import io.dynamo.router.RouteExplanation;
import io.dynamo.router.RouteHints;
import io.dynamo.router.RouteRequest;
import io.dynamo.router.load.RankLoads;
import io.dynamo.router.load.ReportedLoads;
import io.dynamo.router.select.CostModel;
import io.dynamo.router.select.SelectionReason;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RouteExplanationsTest extends RouterHarness {
  private static final DecisionLog.Router ROUTER =
      new DecisionLog.Router(Mode.KV, reports(), () -> true);

  private static ReportedLoads reports() {
    var reports = new ReportedLoads(Duration.ofDays(1), System::nanoTime);
    for (int i = 0; i < 64; i += 2) {
      reports.put(ActiveLoad.ofUsedBlocks(rank(i), i));
    }
    return reports;
  }

  private static RouteRequest named(String id, int[] tokens) {
    return new RouteRequest(id, WORKERS, tokens, BLOCK_TOKENS, Set.of());
  }

  @Test
  void aDecisionIsExplainedByTheTermsOfEachCandidatesCost() {
    workers.set(1, 2);
    try (var router = router(Mode.KV)) {
      router.prepare(ENDPOINT);
      stored(2, 0, 1, prompt(0, 32));
      var first = router.route(named("a", prompt(0, 42)));
      var second = router.route(named("b", prompt(0, 42)));

      var explained = router.of("b").orElseThrow();
      assertThat(explained.endpoint()).isEqualTo(ENDPOINT);
      assertThat(explained.model()).isEqualTo(WORKERS.model());
      assertThat(explained.mode()).isEqualTo("kv");
      assertThat(explained.chosen()).isEqualTo(second.rank());
      assertThat(explained.reason()).isEqualTo("least_cost");
      assertThat(explained.narrowedBy()).isEqualTo("none");
      assertThat(explained.promptTokens()).isEqualTo(42);
      assertThat(explained.totalCandidates()).isEqualTo(2);
      var cold = explained.candidates().get(0);
      assertThat(cold.deviceOverlap()).isZero();
      assertThat(cold.prefillTerm()).isEqualTo(10.5);
      assertThat(cold.decodeTerm()).isEqualTo(10);
      assertThat(cold.cost()).isEqualTo(20.5);
      var warm = explained.candidates().get(1);
      assertThat(warm.rank()).isEqualTo(first.rank());
      assertThat(warm.deviceOverlap()).isEqualTo(8);
      assertThat(warm.prefillTokens()).isEqualTo(10);
      assertThat(warm.activeBlocks()).isEqualTo(10);
      assertThat(warm.addedBlocks()).isZero();
      assertThat(warm.requests()).isEqualTo(1);
      assertThat(warm.prefillTerm()).isEqualTo(13);
      assertThat(warm.creditTerm()).isEqualTo(8);
      assertThat(warm.cost()).isEqualTo(15);
      assertThat(router.recent(9)).extracting(it -> it.requestId()).containsExactly("b", "a");
      assertThat(router.recent(1)).hasSize(1);
      assertThat(router.of("c")).isEmpty();
    }
  }

  @Test
  void theRuleThatNarrowedTheCandidatesIsNamed() {
    workers.set(1, 2);
    try (var router = router(Mode.ROUND_ROBIN)) {
      var hints = RouteHints.pinnedTo(new InstanceId(2), null);
      var request =
          new RouteRequest(
              "pinned",
              WORKERS,
              prompt(0, 4),
              BLOCK_TOKENS,
              Set.of(),
              hints,
              named("x", prompt(0, 4)).deadline(),
              named("x", prompt(0, 4)).cancellation());
      router.route(request).close();
      router.route(named("free", prompt(0, 4))).close();
      assertThat(router.of("pinned").orElseThrow().narrowedBy()).isEqualTo("pin");
      assertThat(router.of("pinned").orElseThrow().candidates()).hasSize(1);
      assertThat(router.of("free").orElseThrow().reason()).isEqualTo("in_turn");
    }
  }

  @Test
  void onlyTheNewestAreKept() {
    var log = new DecisionLog(new RouterSettings.Explaining(3, false));
    for (int i = 0; i < 10; i++) {
      add(log, "r" + i, 2);
    }
    assertThat(log.recent(100)).extracting(it -> it.requestId()).containsExactly("r9", "r8", "r7");
    assertThat(log.of("r7")).isPresent();
    assertThat(log.of("r6")).isEmpty();
    var none = new DecisionLog(new RouterSettings.Explaining(0, true));
    add(none, "r", 2);
    assertThat(none.recent(10)).isEmpty();
    assertThat(none.of("r")).isEmpty();
    assertThat(none.remote()).isTrue();
  }

  @Test
  void ofVeryManyCandidatesTheChosenOneIsAmongThoseKept() {
    var log = new DecisionLog(new RouterSettings.Explaining(3, false));
    add(log, "r", 5000);
    var explained = log.of("r").orElseThrow();
    assertThat(explained.candidates()).hasSize(RouteExplanation.MAX_CANDIDATES);
    assertThat(explained.totalCandidates()).isEqualTo(5000);
    assertThat(explained.chosen()).isEqualTo(rank(4999));
    assertThat(explained.candidates().getLast().rank()).isEqualTo(rank(4999));
  }

  @Test
  void keepingADecisionAllocatesNothingOnceThereIsRoom() {
    var log = new DecisionLog(new RouterSettings.Explaining(8, false));
    var request = named("r", prompt(0, 40));
    var candidates = candidates(64);
    var verdict = verdict(64);
    for (int i = 0; i < 20_000; i++) {
      log.add(request, ROUTER, DecisionLog.Narrowing.NONE, i, 0, candidates, verdict);
    }
    var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < 1000; i++) {
      log.add(request, ROUTER, DecisionLog.Narrowing.NONE, i, 0, candidates, verdict);
    }
    assertThat(threads.getCurrentThreadAllocatedBytes() - before)
        .as("bytes for a thousand decisions")
        .isLessThan(1000);
  }

  private static WorkerRank rank(int i) {
    return new WorkerRank(new InstanceId(i), 0);
  }

  private static RankCandidates candidates(int count) {
    var ranks = new ArrayList<WorkerRank>();
    for (int i = 0; i < count; i++) {
      ranks.add(rank(i));
    }
    return new RankCandidates(
        Collections.nCopies(count, FakeInstances.instance(1)),
        ranks,
        Collections.nCopies(count, WorkerTraits.UNKNOWN),
        null);
  }

  private static Strategy.Verdict verdict(int count) {
    return new Strategy.Verdict(
        count - 1,
        0,
        SelectionReason.LEAST_COST,
        new RankLoads(new long[count], new int[count], new int[count], new int[count]),
        new CostModel.Overlaps(new int[count]),
        null);
  }

  private static void add(DecisionLog log, String id, int candidates) {
    log.add(
        named(id, prompt(0, 4)),
        ROUTER,
        DecisionLog.Narrowing.NONE,
        0,
        0,
        candidates(candidates),
        verdict(candidates));
  }

  @Test
  void apiLogAndRecordingSayTheSame(@TempDir Path directory) throws Exception {
    workers.set(1, 2);
    traits.put(1L, new WorkerTraits(RankRange.ONE, 0, 1000, Set.of(), Set.of()));
    var file = directory.resolve("route.jfr");
    var logger = Logger.getLogger(EndpointRouter.class.getName());
    var lines = new ArrayList<String>();
    var handler =
        new Handler() {
          @Override
          public void publish(LogRecord logged) {
            lines.add(logged.getMessage());
          }

          @Override
          public void flush() {}

          @Override
          public void close() {}
        };
    handler.setLevel(Level.ALL);
    logger.addHandler(handler);
    logger.setLevel(Level.FINE);
    RouteExplanation explanation;
    pools = new FakePool(true, false, false, false, false, false, false, false, true, true);
    var shares = new RouterSettings.SharedCaching(true, 0.5, null);
    try (var router =
            router(
                RouterSettings.of(Mode.KV)
                    .with(new Busy(0.5, null, null))
                    .with(RouterSettings.Indexing.STANDARD.with(shares)));
        var recording = new Recording()) {
      router.prepare(ENDPOINT);
      stored(1, 0, 1, prompt(0, 32));
      reported(1, 123);
      var first = router.route(named("before", prompt(0, 42)));
      recording.enable("io.dynamo.router.RouteDecision");
      recording.start();
      router.route(named("during", prompt(0, 42))).close();
      recording.stop();
      recording.dump(file);
      first.close();
      explanation = router.of("during").orElseThrow();
    } finally {
      logger.removeHandler(handler);
      logger.setLevel(null);
    }
    var one = explanation.candidates().getFirst();
    assertThat(explanation.chosen()).isEqualTo(one.rank());
    assertThat(one.reported())
        .isNotNull()
        .satisfies(
            it -> {
              assertThat(it.usedBlocks()).isEqualTo(123);
              assertThat(it.activeBlocks()).isNull();
              assertThat(it.used()).isTrue();
            });
    assertThat(explanation.candidates().getLast().reported())
        .as("it has reported nothing")
        .isNull();
    var event =
        RecordingFile.readAllEvents(file).stream()
            .filter(it -> it.getEventType().getName().equals("io.dynamo.router.RouteDecision"))
            .reduce((_, _) -> Assertions.fail("one decision"))
            .orElseThrow();
    assertThat(event.getDouble("cost")).isEqualTo(one.cost());
    assertThat(event.getInt("overlapBlocks")).isEqualTo(one.deviceOverlap()).isEqualTo(8);
    assertThat(event.getInt("sharedBlocks")).isEqualTo(one.sharedOverlap()).isEqualTo(2);
    assertThat(event.getLong("prefillTokens")).isEqualTo(one.prefillTokens()).isEqualTo(10);
    assertThat(event.getInt("activeBlocks")).isEqualTo(one.activeBlocks());
    assertThat(event.getInt("requests")).isEqualTo(one.requests());
    assertThat(event.getLong("reportedUsedBlocks")).isEqualTo(123);
    assertThat(event.getBoolean("reportUsed")).isTrue();
    assertThat(event.getDuration("waited").toNanos()).isEqualTo(explanation.waitedNanos());
    assertThat(event.getDuration("queued").toNanos()).isEqualTo(explanation.queuedNanos());
    assertThat(lines).hasSize(2);
    assertThat(lines.getLast())
        .contains(
            "during of " + ENDPOINT,
            explanation.reason().toUpperCase(Locale.ROOT),
            "cost " + one.cost(),
            "8 blocks of 42 tokens cached and 2 shared",
            "load 10 tokens 10 blocks 1 requests",
            "reported 123 blocks (used)",
            "waited " + explanation.waitedNanos() / 1000 + " us");
  }

  @Test
  void withoutThresholdsWhatWorkersReportIsShownAndNotUsed() {
    workers.set(1);
    try (var router = router(Mode.KV)) {
      router.prepare(ENDPOINT);
      reported(1, 5);
      router.route(named("r", prompt(0, 4))).close();
      var chosen = router.of("r").orElseThrow().candidates().getFirst();
      var report = Objects.requireNonNull(chosen.reported());
      assertThat(report.used()).isFalse();
    }
  }

  @Test
  void aFlightRecordingHasTheDecisionsItAsksFor(@TempDir Path directory) throws Exception {
    workers.set(1, 2);
    var file = directory.resolve("route.jfr");
    try (var router = router(Mode.KV);
        var recording = new Recording()) {
      router.route(named("before", prompt(0, 8))).close();
      recording.enable("io.dynamo.router.RouteDecision");
      recording.start();
      router.route(named("during", prompt(0, 8))).close();
      recording.stop();
      recording.dump(file);
    }
    var events =
        RecordingFile.readAllEvents(file).stream()
            .filter(it -> it.getEventType().getName().equals("io.dynamo.router.RouteDecision"))
            .toList();
    assertThat(Files.size(file)).isPositive();
    assertThat(events).hasSize(1);
    var event = events.getFirst();
    assertThat(event.getString("requestId")).isEqualTo("during");
    assertThat(event.getInt("candidates")).isEqualTo(2);
    assertThat(event.getDouble("cost")).isEqualTo(4);
    assertThat(List.of("TIE_RANDOM")).contains(event.getString("reason"));
  }
}
