package io.dynamo.router.endpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dynamo.config.router.RouterSettings;
import io.dynamo.discovery.InstanceId;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.NoWorkerException;
import io.dynamo.router.HintsReaderTest;
import io.dynamo.router.RouteHints;
import io.dynamo.router.RoutePhase;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Tests that the clients' hints decide where requests go. */
class RouteHintsTest extends RouterHarness {
  private static RouteHints read(Map<String, Object> routing) {
    return HintsReaderTest.read(RoutePhase.DECODE, null, routing);
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
      var hints = read(Map.of("allowed_worker_ids", List.of(3)));
      assertThat(routed(router, hints)).isEqualTo(3);
      var contradiction = read(Map.of("allowed_worker_ids", List.of(3), "backend_instance_id", 1));
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
      assertThat(routed(router, read(both))).isEqualTo(2);
      var near = constraints(List.of("a"), Map.of("b", -1));
      assertThat(routed(router, read(near))).isEqualTo(1);
      var nobody = constraints(List.of("z"), Map.of());
      assertThatExceptionOfType(NoWorkerException.class)
          .isThrownBy(() -> routed(router, read(nobody)))
          .withMessageContaining("taints");
      var pinned = new HashMap<String, Object>(constraints(List.of("z"), Map.of()));
      pinned.put("backend_instance_id", 1);
      assertThatExceptionOfType(NoWorkerException.class)
          .as("it is there, but will not do")
          .isThrownBy(() -> routed(router, read(pinned)))
          .withMessageContaining("taints");
    }
  }

  @Test
  void anAdapterNarrowsToWorkersThatHaveIt() {
    workers.set(1, 2);
    describe(2, Set.of(), Set.of("adapter-a"));
    try (var router = router(RouterSettings.Mode.ROUND_ROBIN)) {
      var hints = read(Map.of("lora_name", "adapter-a"));
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
      var salted = read(Map.of("cache_salt", "tenant-a"));
      try (var decision = router.route(request(prompt(0, 32), salted))) {
        assertThat(decision.overlapBlocks()).isZero();
      }
    }
  }
}
