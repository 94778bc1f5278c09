package io.dynamo.router.endpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dynamo.config.router.RouterSettings;
import io.dynamo.config.router.RouterSettings.Mode;
import io.dynamo.error.NoWorkerException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests that the first requests wait until enough workers have been seen. */
@Timeout(60)
class InitialWorkersTest extends RouterHarness {
  static RouterSettings waitingFor(int workers) {
    var of = RouterSettings.of(Mode.RANDOM);
    return new RouterSettings(
        of.mode(),
        of.costs(),
        of.tracking(),
        of.indexing(),
        of.queueing(),
        of.busy(),
        of.sessions(),
        of.explaining(),
        workers,
        of.cudaToCpuRatio(),
        of.localPrefill());
  }

  @Test
  void theFirstRequestWaitsForEnoughWorkers() throws Exception {
    workers.set(1);
    try (var router = router(waitingFor(2))) {
      router.prepare(ENDPOINT);
      var waits = CompletableFuture.supplyAsync(() -> router.route(request(prompt(0, 4))));
      assertThat(waits).isNotDone();
      workers.set(1, 2);
      assertThat(waits.get(20, TimeUnit.SECONDS)).isNotNull();
      workers.set(1);
      assertThat(router.route(request(prompt(0, 4)))).as("once is enough").isNotNull();
    }
  }

  @Test
  @Timeout(20)
  void requestsWaitingForWorkersAreRefusedAtClose() {
    var initial = new InitialWorkers(2, Duration.ofMinutes(1), workers);
    var request = request(prompt(0, 4));
    var thread = new AtomicReference<Thread>();
    var refused =
        CompletableFuture.runAsync(
            () -> initial.await(request),
            task -> thread.set(Thread.ofPlatform().daemon().start(task)));
    var waiter = Objects.requireNonNull(thread.get());
    while (waiter.getState() != Thread.State.TIMED_WAITING && waiter.isAlive()) {
      Thread.onSpinWait();
    }
    initial.close();
    assertThatExceptionOfType(CompletionException.class)
        .isThrownBy(refused::join)
        .withCauseInstanceOf(NoWorkerException.class);
    assertThatExceptionOfType(NoWorkerException.class).isThrownBy(() -> initial.await(request));
  }
}
