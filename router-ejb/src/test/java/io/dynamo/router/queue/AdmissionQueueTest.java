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
import java.util.Map;
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
  private static final Label[] LABELS = {
    new Label("model", "m"),
    new Label("worker_type", "decode"),
    new Label("policy_class", "default")
  };

  private final Metrics metrics = new Metrics();
  private final AtomicLong nanos = new AtomicLong();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final Semaphore room = new Semaphore(0);
  private long cached;
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
        PolicyProfile.of(new RouterSettings.Queueing(4, policy, 1, timeout, Duration.ZERO)),
        () -> 1,
        it -> new QueueMeters(metrics, "m", it.name()),
        nanos::get);
  }

  private AdmissionQueue.Attempt<String> attempt(String name) {
    return new AdmissionQueue.Attempt<>() {
      @Override
      public @Nullable String place(PolicyClass policy, long queuedNanos) {
        if (!room.tryAcquire()) {
          return null;
        }
        placed.add(name);
        return name;
      }

      @Override
      public long cachedTokens() {
        return cached;
      }
    };
  }

  private static Ticket ticket(int strict, double jump, int tokens) {
    return new Ticket(
        "all",
        null,
        strict,
        jump,
        tokens,
        Deadline.after(Duration.ofMinutes(5)),
        new Cancellation());
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
    assertThat(metrics.level(RouterMetrics.QUEUE_REQUESTS, LABELS).value()).isZero();
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
    var queue = queue(QueuePolicy.FCFS, 10, Duration.ofHours(1));
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
        new Ticket(
            "other", null, 0, 0, 1, Deadline.after(Duration.ofMinutes(1)), new Cancellation());
    var never =
        new AdmissionQueue.Attempt<String>() {
          @Override
          public String place(PolicyClass policy, long queuedNanos) {
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
        .counter(
            RouterMetrics.QUEUE_BACKPRESSURE,
            LABELS[0],
            LABELS[1],
            LABELS[2],
            new Label("reason", reason))
        .value();
  }

  private AdmissionQueue queue(int workers, PolicyProfile profile) {
    return new AdmissionQueue(
        new RouterSettings.Queueing(4, QueuePolicy.FCFS, 100, Duration.ofHours(1), Duration.ZERO),
        profile,
        () -> workers,
        it -> new QueueMeters(metrics, "m", it.name()),
        nanos::get);
  }

  private static PolicyClass limited(
      @Nullable Long requests, @Nullable Long tokens, @Nullable Long cached) {
    return new PolicyClass("default", QueuePolicy.FCFS, 1, null, 4.0, requests, tokens, cached);
  }

  private static PolicyProfile only(PolicyClass policy) {
    return new PolicyProfile(
        List.of(policy), new long[] {0}, Map.of(), Map.of("f", new int[] {0}), "f");
  }

  @Test
  void theLimitsOfAClassGrowWithTheWorkersAndTheOneThatReachesItStillWaits() {
    var queue = queue(2, only(limited(1L, null, null)));
    var _ = waits(queue, ticket(0, 0, 10), "a");
    var _ = waits(queue, ticket(0, 0, 10), "b");
    assertThatExceptionOfType(OverloadedException.class)
        .isThrownBy(() -> queue.admit(ticket(0, 0, 10), attempt("c")))
        .withMessageContaining("2 requests of policy class default");
    assertThat(backpressure("request_limit")).isEqualTo(1);
    queue.close();
  }

  @Test
  void theTokensThatWaitAreBounded() {
    var queue = queue(2, only(limited(null, 10L, null)));
    var _ = waits(queue, ticket(0, 0, 19), "a");
    var _ = waits(queue, ticket(0, 0, 1000), "b");
    assertThatExceptionOfType(OverloadedException.class)
        .isThrownBy(() -> queue.admit(ticket(0, 0, 1), attempt("c")))
        .withMessageContaining("1019 prompt tokens");
    assertThat(backpressure("raw_isl_token_limit")).isEqualTo(1);
    queue.close();
  }

  @Test
  void theCachedTokensThatWaitAreBounded() {
    cached = 6;
    var queue = queue(1, only(limited(null, null, 6L)));
    var waiting = waits(queue, ticket(0, 0, 10), "a");
    assertThatExceptionOfType(OverloadedException.class)
        .isThrownBy(() -> queue.admit(ticket(0, 0, 10), attempt("b")))
        .withMessageContaining("6 cached tokens");
    assertThat(backpressure("cached_token_limit")).isEqualTo(1);
    queue.close();
    assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> get(waiting));
    assertThat(metrics.level(RouterMetrics.QUEUE_CACHED_TOKENS, LABELS).value()).isZero();
  }

  @Test
  void aClassThatDoesNotWaitPassesThoseThatDo() throws Exception {
    var slow = new PolicyClass("slow", QueuePolicy.FCFS, 1, 0L, null, null, null, null);
    var fast = new PolicyClass("fast", QueuePolicy.FCFS, 1, null, null, null, null, null);
    var queue =
        queue(
            1,
            new PolicyProfile(
                List.of(slow, fast),
                new long[] {0},
                Map.of("fast", 1),
                Map.of("f", new int[] {0}),
                "f"));
    var stuck = waits(queue, ticket(0, 0, 1), "stuck");
    room.release();
    assertThat(queue.admit(of("fast"), attempt("passes"))).isEqualTo("passes");
    assertThat(stuck).isNotDone();
    release(queue, 1);
    get(stuck);
  }

  @Test
  void classesShareTheRoomByTheirQuanta() throws Exception {
    var queue = queue(1, twoClasses());
    var all = new ArrayList<CompletableFuture<String>>();
    for (int i = 0; i < 40; i++) {
      all.add(waits(queue, of("a"), "a" + i));
      all.add(waits(queue, of("b"), "b" + i));
    }
    for (int i = 0; i < 40; i++) {
      int before = placed.size();
      release(queue, 1);
      awaitPlaced(before + 1);
    }
    assertThat(placed)
        .as("3 of 4, but for who looked by itself between room and relief")
        .filteredOn(it -> it.startsWith("b"))
        .hasSizeBetween(28, 32);
    release(queue, 40);
    for (var it : all) {
      get(it);
    }
    assertThat(placed).hasSize(80).doesNotHaveDuplicates();
    assertThat(queue.waiting()).isZero();
  }

  private static PolicyProfile twoClasses() {
    var a = new PolicyClass("a", QueuePolicy.FCFS, 10, 0L, null, null, null, null);
    var b = new PolicyClass("b", QueuePolicy.FCFS, 30, 0L, null, null, null, null);
    return new PolicyProfile(
        List.of(a, b), new long[] {0}, Map.of("a", 0, "b", 1), Map.of("f", new int[] {0}), "f");
  }

  private static Ticket of(String policyClass) {
    return new Ticket(
        "all", policyClass, 0, 0, 10, Deadline.after(Duration.ofMinutes(5)), new Cancellation());
  }

  private void awaitPlaced(int count) {
    var patience = Deadline.after(Duration.ofSeconds(20));
    while (placed.size() < count && !patience.isExpired()) {
      Thread.onSpinWait();
    }
    assertThat(placed).hasSize(count);
  }

  @Test
  void aClassWithoutRoomHoldsNoOtherUp() throws Exception {
    var queue = queue(1, twoClasses());
    var never =
        new AdmissionQueue.Attempt<String>() {
          @Override
          public @Nullable String place(PolicyClass policy, long queuedNanos) {
            return null;
          }

          @Override
          public long cachedTokens() {
            return 0;
          }
        };
    var stuck = CompletableFuture.supplyAsync(() -> queue.admit(of("b"), never), threads);
    var patience = Deadline.after(Duration.ofSeconds(20));
    while (queue.waiting() == 0 && !patience.isExpired()) {
      Thread.onSpinWait();
    }
    var a = waits(queue, of("a"), "a");
    release(queue, 1);
    assertThat(get(a)).isEqualTo("a");
    assertThat(stuck).isNotDone();
    queue.close();
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
        new Ticket("all", null, 0, 0, 1, Deadline.after(Duration.ofMillis(5)), new Cancellation());
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
          public @Nullable String place(PolicyClass policy, long queuedNanos) {
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
