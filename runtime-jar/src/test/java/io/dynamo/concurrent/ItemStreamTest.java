package io.dynamo.concurrent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ItemStreamTest {
  private final AtomicInteger drained = new AtomicInteger();
  private final AtomicInteger cancelled = new AtomicInteger();

  private ItemStream<Integer> stream(int capacity) {
    return new ItemStream<>(capacity, drained::incrementAndGet, cancelled::incrementAndGet);
  }

  /** Keeps what it hears, on one thread. */
  private static final class RecordingSubscriber implements Flow.Subscriber<Integer> {
    final List<Integer> items = new ArrayList<>();
    Flow.@Nullable Subscription subscription;
    @Nullable Throwable failure;
    int ends;

    @Override
    public void onSubscribe(Flow.Subscription given) {
      subscription = given;
    }

    @Override
    public void onNext(Integer item) {
      items.add(item);
    }

    @Override
    public void onError(Throwable cause) {
      failure = cause;
      ends++;
    }

    @Override
    public void onComplete() {
      ends++;
    }

    Flow.Subscription subscription() {
      if (subscription == null) {
        throw new AssertionError("not subscribed");
      }
      return subscription;
    }
  }

  @Test
  void aFullStreamPausesItsProducerUntilHalfIsTaken() {
    var stream = stream(4);
    var heard = new RecordingSubscriber();
    stream.subscribe(heard);
    assertThat(stream.offer(1)).isTrue();
    stream.offer(2);
    stream.offer(3);
    assertThat(stream.offer(4)).isFalse();
    assertThatThrownBy(() -> stream.offer(5)).isInstanceOf(IllegalStateException.class);
    heard.subscription().request(1);
    assertThat(drained).hasValue(0);
    heard.subscription().request(1);
    assertThat(drained).hasValue(1);
    assertThat(heard.items).containsExactly(1, 2);
  }

  @Test
  void anAbortDropsWhatIsHeldAndAFailureDoesNot() {
    var failing = stream(4);
    var patient = new RecordingSubscriber();
    failing.subscribe(patient);
    failing.offer(1);
    failing.fail(new IllegalStateException("late"));
    assertThat(patient.ends).isZero();
    patient.subscription().request(5);
    assertThat(patient.items).containsExactly(1);
    assertThat(patient.failure).hasMessage("late");

    var aborting = stream(4);
    var abrupt = new RecordingSubscriber();
    aborting.subscribe(abrupt);
    aborting.offer(1);
    aborting.complete();
    aborting.abort(new IllegalStateException("now"));
    abrupt.subscription().request(5);
    assertThat(abrupt.items).isEmpty();
    assertThat(abrupt.failure).hasMessage("now");
    assertThat(abrupt.ends).isEqualTo(1);
  }

  @Test
  void aBadDemandEndsTheStreamAndLaterOffersAreDropped() {
    var stream = stream(2);
    var heard = new RecordingSubscriber();
    stream.subscribe(heard);
    heard.subscription().request(0);
    assertThat(heard.failure).isInstanceOf(IllegalArgumentException.class);
    assertThat(cancelled).hasValue(1);
    for (int i = 0; i < 10; i++) {
      assertThat(stream.offer(i)).isTrue();
    }
    heard.subscription().cancel();
    assertThat(cancelled).hasValue(1);
  }

  @Test
  void aSubscriberThatThrowsHasCancelled() {
    var stream = stream(2);
    stream.subscribe(
        new Flow.Subscriber<>() {
          @Override
          public void onSubscribe(Flow.Subscription given) {
            given.request(10);
          }

          @Override
          public void onNext(Integer item) {
            throw new IllegalStateException("broken on purpose");
          }

          @Override
          public void onError(Throwable cause) {}

          @Override
          public void onComplete() {}
        });
    assertThat(stream.offer(1)).isTrue();
    assertThat(stream.isCancelled()).isTrue();
    assertThat(cancelled).hasValue(1);
  }

  @Test
  void aSecondSubscriberIsTurnedAway() {
    var stream = stream(2);
    stream.subscribe(new RecordingSubscriber());
    var second = new RecordingSubscriber();
    stream.subscribe(second);
    assertThat(second.failure).isInstanceOf(IllegalStateException.class);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 64})
  @Timeout(60)
  void nothingIsLostDoubledOrReorderedBetweenThreads(int capacity) throws Exception {
    int total = 200_000;
    var room = new Semaphore(0);
    var stream = new ItemStream<Integer>(capacity, room::release, () -> {});
    var ended = new CountDownLatch(1);
    var wrong = new AtomicInteger();
    var active = new AtomicInteger();
    var asked = new Semaphore(0);
    var subscriber =
        new Flow.Subscriber<Integer>() {
          volatile Flow.@Nullable Subscription subscription;
          int expected; // serial by the rules of Flow

          @Override
          public void onSubscribe(Flow.Subscription given) {
            subscription = given;
          }

          @Override
          public void onNext(Integer item) {
            if (active.getAndIncrement() != 0 || item != expected++) {
              wrong.incrementAndGet();
            }
            active.decrementAndGet();
            asked.release();
          }

          @Override
          public void onError(Throwable cause) {
            wrong.incrementAndGet();
            ended.countDown();
          }

          @Override
          public void onComplete() {
            if (expected != total) {
              wrong.incrementAndGet();
            }
            ended.countDown();
          }
        };
    stream.subscribe(subscriber);
    var requester =
        Thread.ofPlatform()
            .daemon()
            .start(
                () -> {
                  try {
                    while (ended.getCount() > 0) {
                      var given = subscriber.subscription;
                      if (given != null) {
                        given.request(3);
                      }
                      boolean _ = asked.tryAcquire(3, 10, TimeUnit.MILLISECONDS);
                    }
                  } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                  }
                });
    for (int i = 0; i < total; i++) {
      if (!stream.offer(i)) {
        assertThat(room.tryAcquire(20, TimeUnit.SECONDS)).as("room after item %d", i).isTrue();
      }
    }
    stream.complete();
    assertThat(ended.await(20, TimeUnit.SECONDS)).isTrue();
    requester.join(5_000);
    assertThat(wrong).hasValue(0);
  }
}
