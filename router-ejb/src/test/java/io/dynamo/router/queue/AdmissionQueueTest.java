package io.dynamo.router.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.config.RouterSettings;
import io.dynamo.config.RouterSettings.QueuePolicy;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.error.NoWorkerException;
import io.dynamo.error.OverloadedException;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.RouterMetrics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class AdmissionQueueTest {
  private static final Label ENDPOINT = new Label("endpoint", "e");

  private final Metrics metrics = new Metrics();
  private final AtomicLong nanos = new AtomicLong();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final Semaphore room = new Semaphore(0);
  private final List<String> placed = Collections.synchronizedList(new ArrayList<>());

  @AfterEach
  void stop() {
    threads.shutdownNow();
  }

  private AdmissionQueue queue(QueuePolicy policy, int capacity) {
    return queue(policy, capacity, Duration.ofSeconds(20));
  }

  private AdmissionQueue queue(QueuePolicy policy, int capacity, Duration timeout) {
    return new AdmissionQueue(
        new RouterSettings.Queueing(4, policy, capacity, timeout, Duration.ZERO),
        new QueueMeters(metrics, ENDPOINT),
        nanos::get);
  }

  private AdmissionQueue.Attempt<String> attempt(String name) {
    return new AdmissionQueue.Attempt<>() {
      @Override
      public @Nullable String place() {
        if (!room.tryAcquire()) {
          return null;
        }
        placed.add(name);
        return name;
      }

      @Override
      public long cachedTokens() {
        return 0;
      }
    };
  }

  private static Ticket ticket(int strict, double jump, int tokens) {
    return new Ticket(
        "all", strict, jump, tokens, Deadline.after(Duration.ofMinutes(5)), new Cancellation());
  }

  /** Starts to wait and returns once it does. */
  private CompletableFuture<String> waits(AdmissionQueue queue, Ticket ticket, String name) {
    int before = queue.waiting();
    var done = CompletableFuture.supplyAsync(() -> queue.admit(ticket, attempt(name)), threads);
    while (queue.waiting() == before && !done.isDone()) {
      Thread.onSpinWait();
    }
    return done;
  }

  private void release(AdmissionQueue queue, int places) {
    room.release(places);
    queue.relieved();
  }

  private static <T> T get(CompletableFuture<T> future) throws Exception {
    return future.get(20, TimeUnit.SECONDS);
  }

  @Test
  void whereThereIsRoomNobodyWaits() {
    var queue = queue(QueuePolicy.FCFS, 0);
    room.release();
    assertThat(queue.admit(ticket(0, 0, 1), attempt("a"))).isEqualTo("a");
    assertThat(queue.waiting()).isZero();
  }

  @Test
  void theFirstComeIsTheFirstServed() throws Exception {
    var queue = queue(QueuePolicy.FCFS, 10);
    var all = new ArrayList<CompletableFuture<String>>();
    for (var name : List.of("a", "b", "c")) {
      all.add(waits(queue, ticket(0, 0, 1), name));
      nanos.addAndGet(1_000_000_000);
    }
    release(queue, 3);
    for (var it : all) {
      get(it);
    }
    assertThat(placed).containsExactly("a", "b", "c");
    assertThat(queue.waiting()).isZero();
    assertThat(metrics.level(RouterMetrics.QUEUE_REQUESTS, ENDPOINT).value()).isZero();
  }

  @Test
  void theLastComeIsTheFirstServedWhereThatIsThePolicy() throws Exception {
    var queue = queue(QueuePolicy.LCFS, 10);
    var a = waits(queue, ticket(0, 0, 1), "a");
    nanos.addAndGet(1_000_000_000);
    var b = waits(queue, ticket(0, 0, 1), "b");
    release(queue, 2);
    get(a);
    get(b);
    assertThat(placed).containsExactly("b", "a");
  }

  @Test
  void theShortestGoesFirstWhereThatIsThePolicy() throws Exception {
    var queue = queue(QueuePolicy.WSPT, 10);
    var waiting =
        List.of(
            waits(queue, ticket(0, 0, 1000), "long"),
            waits(queue, ticket(0, 0, 10), "short"),
            waits(queue, ticket(0, 999, 1000), "long and urgent"));
    release(queue, 3);
    for (var it : waiting) {
      get(it);
    }
    assertThat(placed).containsExactly("long and urgent", "short", "long");
  }

  @Test
  void priorityJumpsAndStrictPriorityRules() throws Exception {
    var queue = queue(QueuePolicy.FCFS, 10);
    var waiting = new ArrayList<CompletableFuture<String>>();
    waiting.add(waits(queue, ticket(0, 0, 1), "first"));
    nanos.addAndGet(1_000_000_000);
    waiting.add(waits(queue, ticket(0, 5, 1), "five seconds ahead"));
    nanos.addAndGet(60_000_000_000L);
    waiting.add(waits(queue, ticket(1, 0, 1), "strict"));
    release(queue, 3);
    for (var it : waiting) {
      get(it);
    }
    assertThat(placed).containsExactly("strict", "five seconds ahead", "first");
  }

  @Test
  void theLeastPriorityThereIsGoesLast() throws Exception {
    var queue = queue(QueuePolicy.FCFS, 10);
    var least = waits(queue, ticket(Integer.MIN_VALUE, 0, 1), "least");
    var plain = waits(queue, ticket(0, 0, 1), "plain");
    release(queue, 2);
    get(least);
    get(plain);
    assertThat(placed).containsExactly("plain", "least");
  }

  @Test
  void whoComesLaterDoesNotPass() throws Exception {
    var queue = queue(QueuePolicy.FCFS, 10);
    var a = waits(queue, ticket(0, 0, 1), "a");
    room.release(); // there is room, but nobody has been told
    var b =
        CompletableFuture.supplyAsync(() -> queue.admit(ticket(0, 0, 1), attempt("b")), threads);
    release(queue, 1);
    get(a);
    get(b);
    assertThat(placed).containsExactly("a", "b");
  }

  @Test
  void lanesDoNotWaitForEachOther() throws Exception {
    var queue = queue(QueuePolicy.FCFS, 10);
    var stuck = waits(queue, ticket(0, 0, 1), "stuck");
    var other =
        new Ticket("other", 0, 0, 1, Deadline.after(Duration.ofMinutes(1)), new Cancellation());
    var never =
        new AdmissionQueue.Attempt<String>() {
          @Override
          public String place() {
            return "placed";
          }

          @Override
          public long cachedTokens() {
            return 0;
          }
        };
    assertThat(queue.admit(other, never)).isEqualTo("placed");
    assertThat(stuck).isNotDone();
    release(queue, 1);
    get(stuck);
  }

  @Test
  void aFullQueueRefuses() {
    var queue = queue(QueuePolicy.FCFS, 1);
    var a = waits(queue, ticket(0, 0, 1), "a");
    assertThatExceptionOfType(OverloadedException.class)
        .isThrownBy(() -> queue.admit(ticket(0, 0, 1), attempt("b")))
        .withMessageContaining("dynamo.router.queue-capacity");
    assertThat(backpressure("request_limit")).isEqualTo(1);
    assertThat(a).isNotDone();
    queue.close();
  }

  private long backpressure(String reason) {
    return metrics
        .counter(RouterMetrics.QUEUE_BACKPRESSURE, ENDPOINT, new Label("reason", reason))
        .value();
  }

  @Test
  void nobodyWaitsLongerThanTheTimeout() {
    var queue = queue(QueuePolicy.FCFS, 10, Duration.ofSeconds(3));
    var a = waits(queue, ticket(0, 0, 1), "a");
    nanos.addAndGet(Duration.ofSeconds(3).toNanos());
    queue.relieved();
    assertThatExceptionOfType(ExecutionException.class)
        .isThrownBy(() -> get(a))
        .withCauseInstanceOf(OverloadedException.class);
    assertThat(backpressure("timeout")).isEqualTo(1);
    assertThat(queue.waiting()).isZero();
  }

  @Test
  void nobodyWaitsLongerThanItsDeadline() {
    var queue = queue(QueuePolicy.FCFS, 10);
    var ticket =
        new Ticket("all", 0, 0, 1, Deadline.after(Duration.ofMillis(5)), new Cancellation());
    assertThatExceptionOfType(DeadlineExceededException.class)
        .isThrownBy(() -> queue.admit(ticket, attempt("a")));
    assertThat(queue.waiting()).isZero();
  }

  @Test
  void whoIsKilledWaitsNoMoreAndHoldsNobodyBack() throws Exception {
    var queue = queue(QueuePolicy.FCFS, 10);
    var a = ticket(0, 0, 1);
    var killed = waits(queue, a, "a");
    var next = waits(queue, ticket(0, 0, 1), "b");
    a.cancellation().kill();
    assertThatExceptionOfType(ExecutionException.class)
        .isThrownBy(() -> get(killed))
        .withCauseInstanceOf(CancelledException.class);
    release(queue, 1);
    assertThat(get(next)).isEqualTo("b");
  }

  @Test
  void aFailedAttemptEndsItsOwnWaitOnly() throws Exception {
    var queue = queue(QueuePolicy.FCFS, 10);
    var failing =
        new AdmissionQueue.Attempt<String>() {
          private int tries;

          @Override
          public @Nullable String place() {
            if (tries++ == 0) {
              return null;
            }
            throw new NoWorkerException("gone");
          }

          @Override
          public long cachedTokens() {
            return 0;
          }
        };
    assertThatExceptionOfType(NoWorkerException.class)
        .isThrownBy(() -> queue.admit(ticket(0, 0, 1), failing));
    var next = waits(queue, ticket(0, 0, 1), "b");
    release(queue, 1);
    assertThat(get(next)).isEqualTo("b");
  }

  @Test
  void closingRefusesWhoWaits() {
    var queue = queue(QueuePolicy.FCFS, 10);
    var a = waits(queue, ticket(0, 0, 1), "a");
    queue.close();
    assertThatExceptionOfType(ExecutionException.class)
        .isThrownBy(() -> get(a))
        .withCauseInstanceOf(OverloadedException.class);
  }

  @Test
  void aThousandRequestsPassThroughFewPlacesWithoutOneBeingForgotten() throws Exception {
    var queue = queue(QueuePolicy.FCFS, 2000);
    var all = new ArrayList<CompletableFuture<String>>();
    room.release(4);
    for (int i = 0; i < 1000; i++) {
      var name = "r" + i;
      all.add(
          CompletableFuture.supplyAsync(
              () -> {
                var it = queue.admit(ticket(0, 0, 1), attempt(name));
                release(queue, 1);
                return it;
              },
              threads));
    }
    for (var it : all) {
      get(it);
    }
    assertThat(placed).hasSize(1000).doesNotHaveDuplicates();
    assertThat(queue.waiting()).isZero();
    assertThat(room.availablePermits()).isEqualTo(4);
  }
}
