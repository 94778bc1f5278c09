package io.dynamo.router.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.config.router.RouterSettings.QueuePolicy;
import io.dynamo.metrics.RouterMetrics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Tests which request goes when there is room again. */
class AdmissionQueueTest extends WaitingRequests {
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
  void laterRequestDoesNotOvertake() throws Exception {
    var queue = queue(QueuePolicy.FCFS, 10);
    var a = waits(queue, ticket(0, 0, 1), "a");
    room.release(); // there is room, but the queue has not been notified
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
