package io.dynamo.frontend.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.error.EngineFailedException;
import io.dynamo.inference.BodyTask;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The events of a client on their way to a worker, and to another one. */
class TalkInputTest {
  private static final int MEBIBYTE = 1 << 20;

  private final AtomicLong charged = new AtomicLong();
  private final TalkInput input = new TalkInput(charged::addAndGet);

  private static final class Worker implements Flow.Subscriber<BodyTask> {
    final List<Object> got = new ArrayList<>();
    final CountDownLatch completed = new CountDownLatch(1);
    Flow.@Nullable Subscription subscription;
    @Nullable Throwable error;

    @Override
    public void onSubscribe(Flow.Subscription given) {
      subscription = given;
    }

    void cancel() {
      if (subscription == null) {
        throw new AssertionError("not subscribed");
      }
      subscription.cancel();
    }

    void request(long count) {
      if (subscription == null) {
        throw new AssertionError("not subscribed");
      }
      subscription.request(count);
    }

    @Override
    public void onNext(BodyTask item) {
      got.add(item.body().get("n"));
    }

    @Override
    public void onError(Throwable cause) {
      error = cause;
    }

    @Override
    public void onComplete() {
      completed.countDown();
    }
  }

  private static BodyTask event(int number) {
    return new BodyTask(Map.of("n", number));
  }

  private Worker subscribed() {
    var worker = new Worker();
    input.subscribe(worker);
    return worker;
  }

  @Test
  void eventsGoOutInTheirOrderAsTheyAreWanted() throws Exception {
    input.offer(event(1), 10);
    var worker = subscribed();
    worker.request(2);
    input.offer(event(2), 10);
    input.offer(event(3), 10);
    assertThat(worker.got).containsExactly(1, 2);

    input.complete();
    assertThat(worker.completed.getCount()).isOne();
    worker.request(1);

    assertThat(worker.got).containsExactly(1, 2, 3);
    assertThat(worker.completed.getCount()).isZero();
    assertThat(input.offer(event(4), 10)).isFalse();
  }

  @Test
  void writtenEventsAreNotChargedAnyMore() throws Exception {
    var worker = subscribed();
    worker.request(4);
    for (int i = 0; i < 3; i++) {
      input.offer(event(i), 100);
    }
    assertThat(charged).hasValue(300);

    worker.request(2); // it has written two

    assertThat(charged).as("they are kept for another worker").hasValue(300);
    input.answered();
    assertThat(charged).hasValue(100);
    worker.request(1);
    assertThat(charged).hasValue(0);
  }

  @Test
  void offersBeyondTheBoundWait() throws Exception {
    for (int i = 0; i < TalkInput.CAPACITY; i++) {
      input.offer(event(i), 1);
    }
    var next =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return input.offer(event(99), 1);
              } catch (InterruptedException e) {
                throw new AssertionError(e);
              }
            });
    var worker = subscribed();
    assertThat(next).isNotDone();

    worker.request(1);

    assertThat(next.get(60, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void aClosedInputFreesWhoWaits() throws Exception {
    input.offer(event(0), 16L * MEBIBYTE);
    var next =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return input.offer(event(1), 1);
              } catch (InterruptedException e) {
                throw new AssertionError(e);
              }
            });

    input.close();

    assertThat(next.get(60, TimeUnit.SECONDS)).isFalse();
  }

  @Test
  void anotherWorkerIsGivenAllAgain() throws Exception {
    var lost = subscribed();
    lost.request(1);
    input.offer(event(1), 10);
    input.offer(event(2), 10);
    input.requireWhole();

    var other = subscribed();
    other.request(5);
    lost.request(5);

    assertThat(lost.got).containsExactly(1);
    assertThat(other.got).containsExactly(1, 2);
  }

  @Test
  void noOtherWorkerIsAskedOnceOneHasAnsweredOrMuchWasSaid() throws Exception {
    subscribed();
    input.offer(event(1), 10);
    input.answered();
    assertThatThrownBy(input::requireWhole).isInstanceOf(EngineFailedException.class);

    var talkative = new TalkInput(charged::addAndGet);
    talkative.subscribe(new Worker());
    talkative.offer(event(1), 2L * MEBIBYTE);
    assertThatThrownBy(talkative::requireWhole).isInstanceOf(EngineFailedException.class);
  }

  @Test
  void demandThatIsNotPositiveIsAnError() {
    var worker = subscribed();
    worker.request(0);

    assertThat(worker.error).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void replayedEventsAreReleasedOnce() throws Exception {
    var lost = subscribed();
    lost.request(3);
    input.offer(event(1), 10);
    input.offer(event(2), 10);
    lost.request(2);
    lost.cancel();
    input.offer(event(3), 10);
    var other = subscribed();
    other.request(3);
    assertThat(other.got).containsExactly(1, 2, 3);
    assertThat(charged).hasValue(30);

    other.request(3);
    input.answered();

    assertThat(charged).hasValue(0);
  }

  @Test
  void aLaterWorkerIsToldThatTheBeginningIsLost() throws Exception {
    subscribed();
    input.offer(event(1), 10);
    input.answered();

    var other = subscribed();

    assertThat(other.error).isInstanceOf(EngineFailedException.class);
    other.request(1);
    assertThat(other.got).isEmpty();
  }

  @Test
  void eventsThatAWorkerDoesNotWantAnyMoreAreDropped() throws Exception {
    var worker = subscribed();
    worker.request(1);
    input.answered();
    for (int i = 0; i < TalkInput.CAPACITY; i++) {
      input.offer(event(i), 10);
    }

    worker.cancel();

    for (int i = 0; i < 2 * TalkInput.CAPACITY; i++) {
      assertThat(input.offer(event(i), 10)).isTrue();
    }
    assertThat(charged).hasValue(0);
    assertThat(worker.got).containsExactly(0);
  }
}
