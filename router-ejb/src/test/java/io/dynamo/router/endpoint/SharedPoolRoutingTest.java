package io.dynamo.router.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.config.router.RouterSettings;
import io.dynamo.config.router.RouterSettings.Mode;
import io.dynamo.config.router.RouterSettings.SharedCaching;
import io.dynamo.router.HintsReaderTest;
import io.dynamo.router.RouteExplanation;
import io.dynamo.router.RouteHints;
import io.dynamo.router.RoutePhase;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests how the cache that all workers share counts in choices. */
class SharedPoolRoutingTest extends RouterHarness {
  private static final String EVENTS = "tcp://mooncake:5557";

  private FakePool pool(boolean... held) {
    var pool = new FakePool(held);
    pools = pool;
    return pool;
  }

  private static RouterSettings shared(double multiplier) {
    var settings = RouterSettings.of(Mode.KV);
    return settings.with(settings.indexing().with(new SharedCaching(true, multiplier, EVENTS)));
  }

  private static boolean[] blocks(int from, int to, int of) {
    var held = new boolean[of];
    for (int i = from; i < to; i++) {
      held[i] = true;
    }
    return held;
  }

  private static RouteExplanation.Candidate candidate(RouteExplanation explained, int index) {
    return explained.candidates().get(index);
  }

  @Test
  void blocksBeyondTheDeviceTakeTheirPartOffTheCost() {
    var pool = pool(blocks(1, 9, 10));
    workers.set(1, 2);
    try (var router = router(shared(0.5))) {
      router.prepare(ENDPOINT);
      stored(2, 0, 1, prompt(0, 16));
      try (var decision = router.route(request(prompt(0, 42)))) {
        assertThat(worker(decision)).isEqualTo(2);
        assertThat(decision.overlapBlocks()).as("its own").isEqualTo(4);
      }
      var explained = router.recent(1).getFirst();
      var cold = candidate(explained, 0);
      assertThat(cold.deviceOverlap()).isZero();
      assertThat(cold.sharedOverlap()).isEqualTo(8);
      assertThat(cold.sharedTerm()).isEqualTo(4);
      assertThat(cold.creditTerm()).isZero();
      assertThat(cold.cost()).isEqualTo(10.5 - 4 + 10);
      var warm = candidate(explained, 1);
      assertThat(warm.deviceOverlap()).isEqualTo(4);
      assertThat(warm.sharedOverlap()).as("from the fifth block on").isEqualTo(5);
      assertThat(warm.sharedTerm()).isEqualTo(2.5);
      assertThat(warm.cost()).isEqualTo(10.5 - 4 - 2.5 + 10);
      assertThat(pool.calls()).contains("opened " + EVENTS, "asked");
    }
    assertThat(pool.calls()).last().isEqualTo("closed");
  }

  @Test
  void blocksInTheSharedPoolLetLoadDecide() {
    workers.set(1, 2);
    var cached = prompt(0, 40);
    assertThat(chosenBesideLoad(RouterSettings.of(Mode.KV), cached)).isEqualTo(2);
    assertThat(pool(blocks(0, 10, 10))).isNotNull();
    assertThat(chosenBesideLoad(shared(0), cached)).as("worth nothing").isEqualTo(2);
    assertThat(chosenBesideLoad(shared(1), cached)).as("as good as one's own").isEqualTo(1);
  }

  /**
   * Returns the worker chosen for a prompt that worker 2 has cached while two blocks of another
   * prompt are booked on it.
   */
  private long chosenBesideLoad(RouterSettings settings, int[] cached) {
    try (var router = router(settings)) {
      router.prepare(ENDPOINT);
      stored(2, 0, 1, cached);
      try (var busy = router.route(request(prompt(1000, 8), 1));
          var decision = router.route(request(cached))) {
        assertThat(worker(busy)).isEqualTo(2);
        return worker(decision);
      }
    }
  }

  @Test
  void theCreditNeverExceedsTheWork() {
    assertThat(pool(blocks(0, 10, 10))).isNotNull();
    workers.set(1);
    try (var router = router(shared(1))) {
      try (var decision = router.route(request(prompt(0, 40)))) {
        assertThat(decision).isNotNull();
      }
      assertThat(candidate(router.recent(1).getFirst(), 0).cost()).as("decode alone").isEqualTo(10);
    }
  }

  @Test
  void promptsThatAreCachedApartAreNotLookedFor() {
    var pool = pool(blocks(0, 2, 2));
    workers.set(1);
    try (var router = router(shared(0.5))) {
      routed(router, HintsReaderTest.read(RoutePhase.DECODE, null, Map.of("cache_salt", "s")));
      routed(router, HintsReaderTest.read(RoutePhase.DECODE, null, Map.of("lora_name", "a")));
      assertThat(pool.calls()).containsExactly("opened " + EVENTS);
      assertThat(candidate(router.recent(1).getFirst(), 0).sharedOverlap()).isZero();
      routed(router, RouteHints.NONE);
      assertThat(pool.calls()).last().isEqualTo("asked");
      assertThat(candidate(router.recent(1).getFirst(), 0).sharedOverlap()).isEqualTo(2);
    }
  }

  @Test
  void newsOfCardsReachThePoolOfARouterThatStays() {
    var pool = pool();
    workers.set(1);
    try (var router = router(shared(0.5))) {
      router.prepare(ENDPOINT);
      assertThat(pool.calls()).containsExactly("opened " + EVENTS);
      router.prepare(ENDPOINT);
      assertThat(pool.calls()).last().isEqualTo("cards");
      profile = new EndpointProfile("m", false, Map.of());
      router.prepare(ENDPOINT);
      assertThat(pool.calls().subList(2, pool.calls().size()))
          .containsExactlyInAnyOrder("opened " + EVENTS, "closed");
    }
  }

  @Test
  void withoutAPoolNothingIsAskedAndNothingIsShared() {
    workers.set(1);
    try (var router = router(Mode.KV)) {
      router.prepare(ENDPOINT);
      router.prepare(ENDPOINT);
      try (var decision = router.route(request(prompt(0, 8)))) {
        assertThat(decision).isNotNull();
      }
      var only = candidate(router.recent(1).getFirst(), 0);
      assertThat(only.sharedOverlap()).isZero();
      assertThat(only.sharedTerm()).isZero();
    }
  }

  @Test
  void sharedPoolHitsAreMeasured() {
    var recorded = new RecordedHistograms();
    metrics.attach(recorded);
    assertThat(pool(blocks(1, 3, 4))).isNotNull();
    workers.set(1);
    try (var router = router(shared(0.5))) {
      router.prepare(ENDPOINT);
      stored(1, 0, 1, prompt(0, 8));
      route(router, prompt(0, 18)); // four blocks, of which the worker has two
      assertThat(recorded.of("dynamo_component_router_shared_cache_hit_rate").sum()).isEqualTo(0.5);
      assertThat(recorded.of("dynamo_component_router_shared_cache_beyond_blocks").sum())
          .isEqualTo(1);
      route(router, prompt(0, 3)); // no block
      assertThat(recorded.of("dynamo_component_router_shared_cache_hit_rate").count()).isEqualTo(1);
      assertThat(recorded.of("dynamo_component_router_shared_cache_beyond_blocks").count())
          .isEqualTo(2);
      assertThat(recorded.of("dynamo_router_overhead_shared_cache_query_ms").count()).isEqualTo(2);
    }
  }

  private void route(EndpointRouters router, int[] tokens) {
    try (var decision = router.route(request(tokens))) {
      assertThat(decision).isNotNull();
    }
  }
}
