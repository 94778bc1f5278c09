package io.dynamo.router.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.config.router.RouterSettings.QueuePolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests how classes of requests share the capacity. */
class PolicyClassesTest extends WaitingRequests {
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
    var looks = new AtomicInteger();
    var stuck =
        CompletableFuture.supplyAsync(
            () -> queue.admit(ticket(0, 0, 1), counted(attempt("stuck"), looks)), threads);
    while (looks.get() < 2 && !stuck.isDone()) {
      Thread.onSpinWait(); // at the door and in the queue; it looks no more until it is relieved
    }
    room.release();
    assertThat(queue.admit(of("fast"), attempt("passes"))).isEqualTo("passes");
    assertThat(stuck).isNotDone();
    release(queue, 1);
    get(stuck);
  }

  private static AdmissionQueue.Attempt<String> counted(
      AdmissionQueue.Attempt<String> attempt, AtomicInteger looks) {
    return new AdmissionQueue.Attempt<>() {
      @Override
      public @Nullable String place(PolicyClass policy, long queuedNanos) {
        var placed = attempt.place(policy, queuedNanos);
        looks.incrementAndGet();
        return placed;
      }

      @Override
      public long cachedTokens() {
        return attempt.cachedTokens();
      }
    };
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
}
