package io.dynamo.router.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.config.router.RouterSettings.QueuePolicy;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.error.NoWorkerException;
import io.dynamo.error.OverloadedException;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.RouterMetrics;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests which requests are refused, and which stop waiting without having been placed. */
class QueueEndTest extends WaitingRequests {
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

  private static PolicyClass limited(
      @Nullable Long requests, @Nullable Long tokens, @Nullable Long cached) {
    return new PolicyClass("default", QueuePolicy.FCFS, 1, null, 4.0, requests, tokens, cached);
  }

  private static PolicyProfile only(PolicyClass policy) {
    return new PolicyProfile(
        List.of(policy), new long[] {0}, Map.of(), Map.of("f", new int[] {0}), "f");
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
  void killedRequestLeavesTheQueueWithoutBlockingOthers() throws Exception {
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
}
