package io.dynamo.frontend.sse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.error.CancelledException;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.Flow;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class InboxWindowTest {
  private static final String URGENT = "urgent";
  private static final int CAPACITY = 8;

  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
  private final WakeSignal signal = new WakeSignal(timer);

  @AfterEach
  void close() {
    signal.close();
    timer.shutdownNow();
  }

  private Inbox<String> inbox(Duration window) {
    var inbox = new Inbox<String>(CAPACITY, signal, new Window(window, timer), URGENT::equals);
    inbox.onSubscribe(
        new Flow.Subscription() {
          @Override
          public void request(long count) {}

          @Override
          public void cancel() {}
        });
    return inbox;
  }

  /** An inbox whose consumer has had its first item. */
  private Inbox<String> begun(Duration window) {
    var inbox = inbox(window);
    inbox.onNext("first");
    assertThat(inbox.poll()).isEqualTo("first");
    assertThat(inbox.poll()).isNull();
    return inbox;
  }

  @Test
  void theFirstItemIsSeenAtOnceAndTheNextIsHeld() {
    var inbox = inbox(Duration.ofHours(1));
    inbox.onNext("first");
    assertThat(inbox.isReady()).isTrue();
    assertThat(inbox.poll()).isEqualTo("first");
    assertThat(inbox.poll()).isNull();

    inbox.onNext("second");

    assertThat(inbox.isReady()).isFalse();
    assertThat(inbox.poll()).as("who looks finds it").isEqualTo("second");
  }

  @Test
  void anUrgentItemShowsThoseBeforeIt() {
    var inbox = begun(Duration.ofHours(1));
    inbox.onNext("second");

    inbox.onNext(URGENT);

    assertThat(inbox.isReady()).isTrue();
    assertThat(inbox.poll()).isEqualTo("second");
    assertThat(inbox.isReady()).as("of two items one is left").isTrue();
    assertThat(inbox.poll()).isEqualTo(URGENT);
    assertThat(inbox.poll()).isNull();
    assertThat(inbox.isReady()).isFalse();
  }

  @Test
  void halfAQueueIsSeenSoThatTheProducerGoesOn() {
    var inbox = begun(Duration.ofHours(1));
    for (int i = 1; i < CAPACITY / 2; i++) {
      inbox.onNext("more");
    }
    assertThat(inbox.isReady()).isFalse();

    inbox.onNext("more");

    assertThat(inbox.isReady()).isTrue();
  }

  @Test
  void endAndFailureAreSeenAtOnceAfterTheItemsBeforeThem() {
    var ended = begun(Duration.ofHours(1));
    ended.onNext("second");
    ended.onComplete();
    assertThat(ended.isReady()).isTrue();
    assertThat(ended.poll()).isEqualTo("second");
    assertThat(ended.ended()).isTrue();

    var aborted = begun(Duration.ofHours(1));
    aborted.onNext("second");
    aborted.abort(new CancelledException("the client left"));
    assertThat(aborted.isReady()).isTrue();
    assertThat(aborted.next()).isEqualTo("second");
    assertThat(aborted.next()).as("tells no failure").isNull();
    assertThatThrownBy(aborted::poll).isInstanceOf(CancelledException.class);
  }

  @Test
  void aWindowWakesTheConsumerEachTimeItemsAreHeld() throws InterruptedException {
    var inbox = begun(Duration.ofMillis(1));
    for (int round = 0; round < 20; round++) {
      inbox.onNext("one");
      inbox.onNext("two");

      assertThat(inbox.await(TimeUnit.SECONDS.toNanos(30))).isTrue();
      assertThat(inbox.poll()).isEqualTo("one");
      assertThat(inbox.poll()).isEqualTo("two");
      assertThat(inbox.poll()).isNull();
    }
  }

  @Test
  void nothingIsLostBetweenAProducerAndAConsumerInAHurry() throws Exception {
    int items = 20_000;
    var inbox =
        new Inbox<Integer>(
            64, signal, new Window(Duration.ofNanos(50_000), timer), item -> item % 97 == 0);
    var room = new Semaphore(0);
    inbox.onSubscribe(
        new Flow.Subscription() {
          @Override
          public void request(long count) {
            room.release((int) count);
          }

          @Override
          public void cancel() {}
        });
    var producer =
        Thread.startVirtualThread(
            () -> {
              for (int i = 0; i < items; i++) {
                room.acquireUninterruptibly();
                inbox.onNext(i);
              }
              inbox.onComplete();
            });
    int seen = 0;
    while (!inbox.ended()) {
      assertThat(inbox.await(TimeUnit.SECONDS.toNanos(30))).as("woken after " + seen).isTrue();
      for (var item = inbox.poll(); item != null; item = inbox.poll()) {
        assertThat(item).isEqualTo(seen++);
      }
    }
    assertThat(seen).isEqualTo(items);
    producer.join();
  }

  @Test
  void holdsNothingWhenTheTimerHasEnded() {
    var inbox = begun(Duration.ofHours(1));
    timer.shutdownNow();

    inbox.onNext("second");

    assertThat(inbox.isReady()).isTrue();
  }
}
