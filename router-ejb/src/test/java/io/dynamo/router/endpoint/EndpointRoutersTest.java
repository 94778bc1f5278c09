package io.dynamo.router.endpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.dynamo.config.router.RouterSettings;
import io.dynamo.discovery.InstanceId;
import io.dynamo.error.NoWorkerException;
import io.dynamo.event.EventSubject;
import io.dynamo.kv.KvEventSource;
import io.dynamo.kv.WorkerRank;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.RouterMetrics;
import io.dynamo.router.RouteDecision;
import io.dynamo.router.RouteRequest;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class EndpointRoutersTest extends RouterHarness {
  @Test
  void aPromptGoesWhereItsPrefixIs() {
    workers.set(1, 2, 3);
    try (var router = router(RouterSettings.Mode.KV)) {
      router.prepare(ENDPOINT);
      assertThat(plane.subscribed())
          .containsExactly(
              new EventSubject(ENDPOINT, KvEventSource.TOPIC),
              new EventSubject(ENDPOINT, "kv_metrics"),
              new EventSubject(ENDPOINT, "active_sequences_events"));
      stored(2, 0, 1, prompt(0, 32));
      try (var decision = router.route(request(prompt(0, 42)))) {
        assertThat(decision.instance()).isEqualTo(FakeInstances.instance(2));
        assertThat(decision.rank()).isEqualTo(new WorkerRank(new InstanceId(2), 0));
        assertThat(decision.overlapBlocks()).isEqualTo(8);
      }
      assertThat(metrics.counter(RouterMetrics.OVERLAP_BLOCKS).value()).isEqualTo(8);
      assertThat(metrics.counter(RouterMetrics.PROMPT_BLOCKS).value()).isEqualTo(10);
      assertThat(metrics.counter(RouterMetrics.DECISIONS, new Label("mode", "kv")).value())
          .isEqualTo(1);
    }
  }

  @Test
  void loadOutweighsASmallOverlap() {
    workers.set(1, 2);
    try (var router = router(RouterSettings.Mode.KV)) {
      router.prepare(ENDPOINT);
      stored(1, 0, 1, prompt(0, 4));
      try (var first = router.route(request(prompt(0, 40)));
          var second = router.route(request(prompt(0, 4)))) {
        assertThat(first.instance().id().value()).isEqualTo(1);
        assertThat(second.instance().id().value()).isEqualTo(2);
        assertThat(second.overlapBlocks()).isZero();
        assertThat(
                counted(
                    RouterMetrics.NON_MAX_OVERLAP_SELECTIONS, new Label("worker_type", "prefill")))
            .isEqualTo(1);
      }
    }
  }

  @Test
  void concurrentRequestsSpreadOverIdleWorkers() {
    workers.set(1, 2, 3, 4);
    try (var router = router(RouterSettings.Mode.KV)) {
      var decisions = Stream.generate(() -> router.route(request(prompt(0, 40)))).limit(4).toList();
      assertThat(decisions)
          .extracting(it -> it.instance().id().value())
          .containsExactlyInAnyOrder(1L, 2L, 3L, 4L);
      decisions.forEach(RouteDecision::close);
    }
  }

  @Test
  void aClosedDecisionIsNoLoad() {
    workers.set(1);
    try (var router = router(RouterSettings.Mode.KV)) {
      var decision = router.route(request(prompt(0, 400)));
      decision.prefillDone();
      decision.close();
      decision.close();
      workers.set(1, 2);
      router.prepare(ENDPOINT);
      stored(1, 0, 1, prompt(1000, 4));
      try (var again = router.route(request(prompt(1000, 8)))) {
        assertThat(again.instance().id().value()).isEqualTo(1);
      }
    }
  }

  @Test
  void everyRankIsACandidate() {
    workers.set(1);
    range = new RankRange(2, 3);
    try (var router = router(RouterSettings.Mode.KV)) {
      router.prepare(ENDPOINT);
      stored(1, 3, 1, prompt(0, 32));
      try (var decision = router.route(request(prompt(0, 40)))) {
        assertThat(decision.rank()).isEqualTo(new WorkerRank(new InstanceId(1), 3));
      }
    }
    try (var router = router(RouterSettings.Mode.ROUND_ROBIN)) {
      assertThat(Stream.generate(() -> router.route(request(prompt(0, 40)))).limit(4).toList())
          .extracting(it -> it.rank().rank())
          .containsExactly(2, 3, 4, 2);
    }
  }

  @Test
  void anExcludedWorkerIsNeverChosen() {
    workers.set(1, 2);
    for (var mode : FREE_MODES) {
      try (var router = router(mode)) {
        for (int i = 0; i < 10; i++) {
          assertThat(router.route(request(prompt(0, 8), 1)).instance().id().value()).isEqualTo(2);
        }
        assertThatExceptionOfType(NoWorkerException.class)
            .isThrownBy(() -> router.route(request(prompt(0, 8), 1, 2)))
            .withMessageContaining("2 known");
      }
    }
  }

  @Test
  void aWorkerSetAsideIsTheLastResort() {
    workers.set(1, 2);
    workers.inhibit(new InstanceId(1));
    for (var mode : FREE_MODES) {
      try (var router = router(mode)) {
        for (int i = 0; i < 10; i++) {
          assertThat(router.route(request(prompt(0, 8))).instance().id().value()).isEqualTo(2);
        }
        assertThat(router.route(request(prompt(0, 8), 2)).instance().id().value()).isEqualTo(1);
      }
    }
  }

  @Test
  void withoutWorkersARequestIsRefused() {
    for (var mode : FREE_MODES) {
      try (var router = router(mode)) {
        assertThatExceptionOfType(NoWorkerException.class)
            .isThrownBy(() -> router.route(request(prompt(0, 8))));
      }
    }
  }

  @Test
  void aWorkerThatComesBackStartsCold() {
    workers.set(1, 2);
    try (var router = router(RouterSettings.Mode.KV)) {
      router.prepare(ENDPOINT);
      stored(1, 0, 1, prompt(0, 32));
      workers.set(2);
      workers.set(1, 2);
      try (var decision = router.route(request(prompt(0, 40)))) {
        assertThat(decision.overlapBlocks()).isZero();
      }
    }
  }

  @Test
  void closingStopsListening() {
    workers.set(1);
    var router = router(RouterSettings.Mode.KV);
    router.prepare(ENDPOINT);
    router.prepare(ENDPOINT);
    assertThat(plane.subscribed()).hasSize(3);
    router.close();
    router.close();
    router.prepare(ENDPOINT);
    assertThat(plane.subscribed()).isEmpty();
    assertThat(sources.listeners).isEmpty();
    assertThat(workers.listeners()).isEmpty();
    assertThatIllegalStateException().isThrownBy(() -> router.route(request(prompt(0, 8))));
  }

  @Test
  void turnsNeedNoEvents() {
    workers.set(1, 2);
    try (var router = router(RouterSettings.Mode.ROUND_ROBIN)) {
      assertThat(router.route(request(prompt(0, 8))).instance())
          .isEqualTo(FakeInstances.instance(1));
      assertThat(router.route(request(prompt(0, 8))).instance())
          .isEqualTo(FakeInstances.instance(2));
      assertThat(plane.subscribed()).isEmpty();
    }
  }

  @Test
  void aRequestMustKnowItsBlockSize() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new RouteRequest("r", WORKERS, new int[1], 0, Set.of()))
        .withMessageContaining("kv_cache_block_size");
  }
}
