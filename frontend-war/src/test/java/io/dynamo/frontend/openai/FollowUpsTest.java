package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.inference.EngineOutput;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The bound, the deadline and the end of prefills of next turns. */
final class FollowUpsTest {
  private static final Duration LONG = Duration.ofSeconds(30);

  private final AtomicInteger cancelled = new AtomicInteger();
  private final CountDownLatch subscribed = new CountDownLatch(1);

  /** A worker that never says anything. */
  private final Flow.Publisher<EngineOutput> silent =
      subscriber -> {
        subscriber.onSubscribe(
            new Flow.Subscription() {
              @Override
              public void request(long count) {}

              @Override
              public void cancel() {
                cancelled.incrementAndGet();
              }
            });
        subscribed.countDown();
      };

  @Test
  void thoseBeyondTheBoundAreLeftOut() throws InterruptedException {
    var followUps = new FollowUps(1, LONG);
    var began = new CountDownLatch(1);
    var mayEnd = new CountDownLatch(1);
    var first =
        Thread.startVirtualThread(
            () -> {
              var _ =
                  followUps.run(
                      (_, _) -> {
                        began.countDown();
                        await(mayEnd);
                      });
            });
    await(began);

    assertThat(followUps.run(FollowUpsTest::refuse)).isFalse();

    mayEnd.countDown();
    assertThat(first.join(LONG)).isTrue();
    assertThat(followUps.run((_, _) -> {})).isTrue();
  }

  @Test
  void aFailureFreesThePlace() {
    var followUps = new FollowUps(1, LONG);
    assertThatThrownBy(() -> followUps.run(FollowUpsTest::refuse))
        .isInstanceOf(AssertionError.class);
    assertThat(followUps.run((_, _) -> {})).isTrue();
  }

  @Test
  void aSilentWorkerIsCancelledAtTheDeadline() {
    var cancellation = new Cancellation();
    assertThatThrownBy(
            () -> UnreadOutput.await(silent, cancellation, Deadline.after(Duration.ofMillis(20))))
        .isInstanceOf(TimeoutException.class);
    assertThat(cancelled).hasValue(1);
    assertThat(cancellation.level()).isEqualTo(Cancellation.Level.KILL);
  }

  @Test
  void theDeadlineIsThatOfTheBound() {
    var followUps = new FollowUps(1, Duration.ZERO);
    assertThat(followUps.run((_, deadline) -> assertThat(deadline.isExpired()).isTrue())).isTrue();
  }

  @Test
  void theEndCancelsWhatIsUnderWayAndLeavesOutTheRest() throws InterruptedException {
    var followUps = new FollowUps(2, LONG);
    var failures = new AtomicInteger();
    var running =
        Thread.startVirtualThread(
            () -> {
              var _ =
                  followUps.run(
                      (cancellation, deadline) -> {
                        try {
                          UnreadOutput.await(silent, cancellation, deadline);
                        } catch (ExecutionException e) {
                          failures.incrementAndGet();
                        } catch (InterruptedException | TimeoutException e) {
                          throw new AssertionError(e);
                        }
                      });
            });
    await(subscribed);

    followUps.end();

    assertThat(running.join(Duration.ofSeconds(20))).isTrue();
    assertThat(failures).hasValue(1);
    assertThat(cancelled).hasValue(1);
    assertThat(followUps.run(FollowUpsTest::refuse)).isFalse();
  }

  private static void refuse(Cancellation cancellation, Deadline deadline) {
    throw new AssertionError("it was run");
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
