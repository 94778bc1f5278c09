package io.dynamo.router.endpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.config.router.RouterSettings;
import io.dynamo.config.router.RouterSettings.Mode;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.error.OverloadedException;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.RouterMetrics;
import io.dynamo.router.RouteDecision;
import io.dynamo.router.RouteHints;
import io.dynamo.router.RouteRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests of requests that wait for a rank. */
@Timeout(60)
class RouteQueueTest extends RouterHarness {
  private EndpointRouters saturable(RouterSettings.Queueing queueing) {
    workers.set(1, 2);
    for (long id : workers.live().stream().mapToLong(it -> it.id().value()).toArray()) {
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
      assertThat(router.queued(RouterHarness.WORKERS)).isOne();
      second.prefillDone();
      assertThat(waits.get(20, TimeUnit.SECONDS).rank()).isEqualTo(second.rank());
      var decisions = router.recent(2);
      assertThat(decisions.getFirst().queuedNanos())
          .isPositive()
          .isLessThanOrEqualTo(decisions.getFirst().waitedNanos());
      assertThat(decisions.getLast().queuedNanos()).as("there was room at once").isZero();
      assertThat(router.queued(RouterHarness.WORKERS)).isZero();
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
      new Label("model", WORKERS.model()),
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
              WORKERS,
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
}
