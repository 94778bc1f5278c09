package io.dynamo.router.endpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.dynamo.concurrent.Deadline;
import io.dynamo.config.router.RouterSettings;
import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.KvEvent;
import io.dynamo.kv.KvEventSource;
import io.dynamo.kv.RankEvent;
import io.dynamo.kv.SequenceAdded;
import io.dynamo.kv.SequenceEvent;
import io.dynamo.kv.StoredBlock;
import io.dynamo.kv.WorkerRank;
import io.dynamo.metrics.Histogram;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.MetricName;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.RouterMetrics;
import io.dynamo.router.RouteDecision;
import io.dynamo.token.BlockHash;
import io.dynamo.token.BlockHasher;
import io.dynamo.token.BlockHashes;
import io.dynamo.token.SequenceHash;
import io.dynamo.token.TrackingKey;
import io.dynamo.wire.kv.SequenceEventCodec;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.DoubleSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of the routing properties in the cards of an endpoint's workers. */
class EndpointProfileTest extends RouterHarness {
  private static EndpointProfile routed(String mode) {
    return new EndpointProfile("m", false, Map.of("router_mode", mode));
  }

  private static List<Long> workersOf(EndpointRouters router, int requests) {
    return Stream.generate(
            () -> {
              try (var decision = router.route(request(prompt(0, 8)))) {
                return decision.instance().id().value();
              }
            })
        .limit(requests)
        .toList();
  }

  private long decisions(String mode) {
    return metrics.counter(RouterMetrics.DECISIONS, new Label("mode", mode)).value();
  }

  @Test
  void theModeOfACardCounts() {
    workers.set(1, 2, 3);
    profile = routed("round_robin");
    try (var router = router(RouterSettings.Mode.KV)) {
      assertThat(workersOf(router, 4)).containsExactly(1L, 2L, 3L, 1L);
      assertThat(plane.subscribed()).as("nobody looks at prompts").isEmpty();
      assertThat(decisions("round_robin")).isEqualTo(4);
      assertThat(decisions("kv")).isZero();
    }
  }

  @Test
  void anotherCardIsHeardAtOnceAndTheOldRouterLetsGo() {
    workers.set(1, 2);
    try (var router = router(RouterSettings.Mode.KV)) {
      router.prepare(ENDPOINT);
      int listening = plane.subscribed().size();
      router.prepare(ENDPOINT);
      assertThat(plane.subscribed()).as("the same card changes nothing").hasSize(listening);
      var open = router.route(request(prompt(0, 8)));
      profile = routed("round_robin");
      router.prepare(ENDPOINT);
      assertThat(plane.subscribed()).isEmpty();
      assertThat(workersOf(router, 3)).containsExactly(1L, 2L, 1L);
      open.prefillDone();
      open.close();
      profile = EndpointProfile.UNKNOWN;
      router.prepare(ENDPOINT);
      assertThat(plane.subscribed()).hasSize(listening);
    }
    assertThat(plane.subscribed()).isEmpty();
    assertThat(workers.listeners()).isEmpty();
  }

  @Test
  void waitingRequestIsPlacedByTheNewRouter() throws Exception {
    workers.set(1);
    traits.put(1L, new WorkerTraits(RankRange.ONE, 10, 0, Set.of(), Set.of()));
    try (var router = router(RouterSettings.Mode.KV);
        var first = router.route(request(prompt(0, 400)))) {
      var second = CompletableFuture.supplyAsync(() -> router.route(request(prompt(0, 4))));
      var waiting =
          metrics.level(
              RouterMetrics.QUEUE_REQUESTS,
              new Label("model", WORKERS.model()),
              new Label("worker_type", "decode"),
              new Label("policy_class", "default"));
      var patience = Deadline.after(Duration.ofSeconds(20));
      while (waiting.value() == 0 && !patience.isExpired()) {
        Thread.onSpinWait();
      }
      assertThat(waiting.value()).isEqualTo(1);
      profile = routed("random");
      router.prepare(ENDPOINT);
      try (var placed = second.get(20, TimeUnit.SECONDS)) {
        assertThat(placed.instance()).isEqualTo(first.instance());
      }
      assertThat(counted(RouterMetrics.REQUESTS_STARTED))
          .as("who is placed anew has begun once")
          .isEqualTo(2);
    }
  }

  @Test
  void aCardThatCannotBeKeptLeavesTheOwnSettings() {
    workers.set(1, 2);
    profile = new EndpointProfile("m", false, Map.of("router_mode", "by_the_moon"));
    try (var router = router(RouterSettings.Mode.ROUND_ROBIN)) {
      assertThat(workersOf(router, 2)).containsExactly(1L, 2L);
    }
  }

  @Test
  void theBlocksOfADraftingModelReachOneTokenFurther() {
    workers.set(1, 2);
    profile = new EndpointProfile("m", true, Map.of());
    try (var router = router(RouterSettings.Mode.KV)) {
      router.prepare(ENDPOINT);
      store(2, BlockHasher.of(BLOCK_TOKENS).eagle().hash(prompt(0, 33)));
      try (var decision = router.route(request(prompt(0, 33)))) {
        assertThat(decision.rank().worker().value()).isEqualTo(2);
        assertThat(decision.overlapBlocks()).isEqualTo(8);
      }
      try (var decision = router.route(request(prompt(0, 32)))) {
        assertThat(decision.overlapBlocks()).as("the last has no successor").isEqualTo(7);
      }
    }
  }

  private void store(long worker, BlockHashes hashes) {
    var rank = new WorkerRank(new InstanceId(worker), 0);
    sources.add(new KvEventSource(ENDPOINT, rank, 7, null).toRecord());
    var blocks = new ArrayList<StoredBlock>();
    for (int i = 0; i < hashes.length(); i++) {
      blocks.add(
          new StoredBlock(new SequenceHash(hashes.sequence(i)), new BlockHash(hashes.block(i))));
    }
    next = List.of(new RankEvent(rank, new KvEvent.Stored(1, null, blocks)));
    plane.tell(7, KvEventSource.TOPIC, new byte[0]);
  }

  private static RouterSettings keyed(Path file) {
    var standard = RouterSettings.of(RouterSettings.Mode.KV);
    return standard.with(
        new RouterSettings.Tracking(
            true,
            false,
            true,
            true,
            true,
            Duration.ofMinutes(5),
            new RouterSettings.KeyFile(file, "2026-01")));
  }

  @Test
  void otherRoutersHearOfBlocksUnderTheSecret(@TempDir Path folder) throws IOException {
    var file =
        Files.write(folder.resolve("key"), "k".repeat(32).getBytes(StandardCharsets.US_ASCII));
    workers.set(1, 2);
    profile = new EndpointProfile("m", false, Map.of());
    var expected =
        TrackingKey.read(file, "2026-01")
            .hasher("m", "default", BLOCK_TOKENS, null, null, false)
            .hash(prompt(0, 8));
    try (var router = router(keyed(file));
        var decision = router.route(request(prompt(0, 8)))) {
      var load =
          plane.published().stream()
              .filter(it -> it.topic().equals(SequenceEvent.TOPIC))
              .flatMap(it -> SequenceEventCodec.decode(it.payload()).stream())
              .toList();
      assertThat(load)
          .singleElement()
          .isInstanceOfSatisfying(
              SequenceAdded.class, added -> assertThat(added.prompt()).isEqualTo(expected));
      assertThat(expected).isNotEqualTo(BlockHashes.of(prompt(0, 8), BLOCK_TOKENS));
      assertThat(decision.overlapBlocks()).isZero();
    }
  }

  @Test
  void aSecretThatCannotBeReadStopsTheStart(@TempDir Path folder) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> router(keyed(folder.resolve("none"))))
        .withMessageContaining("tracking key");
  }

  @Test
  void workersWithoutAcceleratorsGetTheirShareOnly() {
    workers.set(
        List.of(
            FakeInstances.instance(1, "cuda"),
            FakeInstances.instance(2, "cpu"),
            FakeInstances.instance(3, null),
            FakeInstances.instance(4, "cpu")));
    try (var router = router(RouterSettings.Mode.DEVICE_AWARE_WEIGHTED)) {
      var decisions = new ArrayList<RouteDecision>();
      for (int i = 0; i < 90; i++) {
        decisions.add(router.route(request(prompt(0, 8))));
      }
      var byWorker =
          decisions.stream()
              .collect(
                  Collectors.groupingBy(it -> it.instance().id().value(), Collectors.counting()));
      assertThat(byWorker).containsEntry(1L, 40L).containsEntry(3L, 40L);
      assertThat(byWorker).containsEntry(2L, 5L).containsEntry(4L, 5L);
      decisions.forEach(RouteDecision::close);
      workers.set(List.of(FakeInstances.instance(2, "cpu")));
      assertThat(workersOf(router, 1)).containsExactly(2L);
    }
  }

  @Test
  void requestWaitingForWorkersMovesToTheNewRouter() throws Exception {
    workers.set(1);
    try (var router = router(InitialWorkersTest.waitingFor(2))) {
      var waits =
          CompletableFuture.supplyAsync(
              () -> router.route(request(prompt(0, 4))), Thread::startVirtualThread);
      var patience = Deadline.after(Duration.ofSeconds(20));
      while (counted(RouterMetrics.REQUESTS_STARTED) == 0 && !patience.isExpired()) {
        Thread.onSpinWait();
      }
      profile = routed("random");
      router.prepare(ENDPOINT);
      workers.set(1, 2);
      assertThat(waits.get(20, TimeUnit.SECONDS)).isNotNull();
    }
  }

  @Test
  void thresholdsSetByHandOutliveAnotherCard() {
    workers.set(1);
    var byHand = new RouterSettings.Busy(0.5, 7L, null);
    try (var router = router(RouterSettings.Mode.KV)) {
      router.setThresholds(router.place(WORKERS), byHand);
      profile = routed("random");
      router.prepare(ENDPOINT);
      assertThat(router.thresholds(WORKERS)).isEqualTo(byHand);
    }
  }

  @Test
  void newRouterMeasuresWorkerReports() {
    var gauges = new HashMap<String, DoubleSupplier>();
    metrics.attach(
        new Metrics.Outlet() {
          @Override
          public void counter(MetricName name, List<Label> labels, Metrics.Counter counter) {}

          @Override
          public void gauge(MetricName name, List<Label> labels, DoubleSupplier value) {
            gauges.put(name.name(), value);
          }

          @Override
          public void histogram(MetricName name, List<Label> labels, Histogram histogram) {}
        });
    workers.set(1);
    try (var router = router(RouterSettings.Mode.KV)) {
      router.prepare(ENDPOINT);
      reported(1, 5);
      var used = Objects.requireNonNull(gauges.get(RouterMetrics.REPORTED_USED_BLOCKS.name()));
      assertThat(used.getAsDouble()).isEqualTo(5);
      profile = new EndpointProfile("other", false, Map.of());
      router.prepare(ENDPOINT);
      reported(1, 7);
      assertThat(used.getAsDouble()).isEqualTo(7);
    }
  }
}
