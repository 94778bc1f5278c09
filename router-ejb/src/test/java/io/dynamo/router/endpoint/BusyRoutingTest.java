package io.dynamo.router.endpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dynamo.config.router.RouterSettings;
import io.dynamo.discovery.InstanceId;
import io.dynamo.error.OverloadedException;
import io.dynamo.router.RouteHints;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Tests that busy workers get no requests. */
class BusyRoutingTest extends RouterHarness {
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
      router.prepare(ENDPOINT);
      assertThat(router.thresholds(WORKERS)).isEqualTo(RouterSettings.Busy.STANDARD);
      var half = new RouterSettings.Busy(0.5, null, null);
      router.setThresholds(router.place(WORKERS), half);
      assertThat(router.thresholds(WORKERS)).isEqualTo(half);
      assertThat(router.allBusy(WORKERS)).as("nobody has reported").isFalse();
      reported(1, 51);
      assertThat(router.allBusy(WORKERS)).isFalse();
      assertThat(routed(router, RouteHints.NONE)).isEqualTo(2);
      reported(2, 51);
      assertThat(router.allBusy(WORKERS)).isTrue();
      assertThatExceptionOfType(OverloadedException.class)
          .isThrownBy(() -> routed(router, RouteHints.NONE));
      workers.set();
      assertThat(router.allBusy(WORKERS)).as("there is nobody").isFalse();
      workers.set(1, 2);
      router.setThresholds(router.place(WORKERS), new RouterSettings.Busy(0.9, null, null));
      assertThat(router.allBusy(WORKERS)).as("the old latch counts no more").isFalse();
      router.setThresholds(router.place(WORKERS), RouterSettings.Busy.STANDARD);
      assertThat(routed(router, RouteHints.NONE)).isIn(1L, 2L);
    }
  }

  @Test
  void aWorkerThatComesBackIsNotBusyForWhatItWas() {
    workers.set(1);
    traits.put(1L, new WorkerTraits(RankRange.ONE, 0, 100, Set.of(), Set.of()));
    var settings =
        RouterSettings.of(RouterSettings.Mode.LEAST_LOADED)
            .with(new RouterSettings.Busy(0.5, null, null));
    try (var router = router(settings)) {
      router.prepare(ENDPOINT);
      reported(1, 51);
      assertThat(router.allBusy(WORKERS)).isTrue();
      reported(1, 50);
      assertThat(router.allBusy(WORKERS)).as("not below the threshold yet").isTrue();
      workers.set();
      workers.set(1);
      reported(1, 50);
      assertThat(router.allBusy(WORKERS)).isFalse();
    }
  }
}
