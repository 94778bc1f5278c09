package io.dynamo.router.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.config.router.RouterSettings;
import io.dynamo.event.EventSubject;
import io.dynamo.kv.KvEventSource;
import io.dynamo.metrics.RouterMetrics;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests that one router's index answers another router. */
@Timeout(60)
class SharedIndexTest extends RouterHarness {
  private static final EventSubject EVENTS = new EventSubject(ENDPOINT, KvEventSource.TOPIC);

  private EndpointRouters sharing(RouterSettings.IndexSharing sharing) {
    return router(
        RouterSettings.of(RouterSettings.Mode.KV)
            .with(
                new RouterSettings.Indexing(
                    true, Duration.ofMinutes(2), null, RouterSettings.CachePolicy.TTL, sharing)));
  }

  private int overlap(EndpointRouters router) {
    try (var decision = router.route(request(prompt(0, 42)))) {
      return decision.overlapBlocks();
    }
  }

  private long failures() {
    return metrics.counter(RouterMetrics.REMOTE_INDEX_FAILURES).value();
  }

  @Test
  void askingRouterUsesTheIndexOfTheServingRouter() {
    workers.set(1, 2);
    try (var serving = sharing(RouterSettings.IndexSharing.SERVE);
        var asking = sharing(RouterSettings.IndexSharing.ASK)) {
      serving.prepare(ENDPOINT);
      asking.prepare(ENDPOINT);
      assertThat(plane.subscribed()).as("one of them listens").containsOnlyOnce(EVENTS);
      stored(2, 0, 1, prompt(0, 40));
      for (var router : new EndpointRouters[] {serving, asking}) {
        try (var decision = router.route(request(prompt(0, 42)))) {
          assertThat(decision.rank().worker().value()).isEqualTo(2);
          assertThat(decision.overlapBlocks()).isEqualTo(10);
        }
      }
      assertThat(indexes.asked()).isEqualTo(1);
      try (var decision = asking.route(request(prompt(0, 3)))) {
        assertThat(decision).isNotNull();
      }
      assertThat(indexes.asked()).as("less than a block is nowhere").isEqualTo(1);
      assertThat(failures()).isZero();
    }
  }

  @Test
  void anIndexThatDoesNotAnswerHoldsRequestsUpOnceInAWhile() {
    var nanos = new AtomicLong();
    nanoClock = nanos::get;
    workers.set(1, 2);
    try (var serving = sharing(RouterSettings.IndexSharing.SERVE);
        var asking = sharing(RouterSettings.IndexSharing.ASK)) {
      serving.prepare(ENDPOINT);
      stored(2, 0, 1, prompt(0, 40));
      indexes.setSilent(true);
      assertThat(overlap(asking)).as("load decides").isZero();
      assertThat(overlap(asking)).isZero();
      assertThat(indexes.asked()).isEqualTo(1);
      assertThat(failures()).isEqualTo(1);
      nanos.addAndGet(Duration.ofSeconds(1).toNanos());
      assertThat(overlap(asking)).isZero();
      assertThat(indexes.asked()).isEqualTo(2);
      indexes.setSilent(false);
      assertThat(overlap(asking)).as("it rests").isZero();
      nanos.addAndGet(Duration.ofSeconds(1).toNanos());
      assertThat(overlap(asking)).isEqualTo(10);
      assertThat(overlap(asking)).isEqualTo(10);
    }
  }

  @Test
  void aRouterThatIsClosedAnswersNoMore() {
    workers.set(1);
    try (var asking = sharing(RouterSettings.IndexSharing.ASK)) {
      try (var serving = sharing(RouterSettings.IndexSharing.SERVE)) {
        serving.prepare(ENDPOINT);
        stored(1, 0, 1, prompt(0, 40));
        profile = new EndpointProfile("m", false, Map.of());
        serving.prepare(ENDPOINT);
        assertThat(overlap(asking)).as("of the model there is a new, empty index").isZero();
        assertThat(failures()).isZero();
      }
      assertThat(overlap(asking)).isZero();
      assertThat(failures()).isEqualTo(1);
    }
  }
}
