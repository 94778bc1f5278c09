package io.dynamo.frontend.sse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class WakeSignalTest {
  private static final long LONG = Duration.ofMinutes(10).toNanos();
  private static final long SHORT = Duration.ofMillis(20).toNanos();

  private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1);
  private final WakeSignal wakeSignal = new WakeSignal(timer);
  private volatile WakeSignal ringing = wakeSignal;

  WakeSignalTest() {
    timer.setRemoveOnCancelPolicy(true);
  }

  @AfterEach
  void close() {
    timer.shutdownNow();
  }

  @Test
  void aReadyConditionIsNotWaitedFor() throws InterruptedException {
    assertThat(wakeSignal.await(() -> true, 0)).isTrue();
    assertThat(timer.getTaskCount()).isZero();
  }

  @Test
  void aRingEndsTheWait() throws InterruptedException {
    for (int i = 0; i < 1000; i++) {
      var ready = new AtomicBoolean();
      var ringer =
          Thread.ofVirtual()
              .start(
                  () -> {
                    ready.set(true);
                    wakeSignal.signal();
                  });
      assertThat(wakeSignal.await(ready::get, LONG)).isTrue();
      ringer.join();
    }
    assertThat(timer.getTaskCount()).as("alarms for 1000 waits").isLessThanOrEqualTo(1);
  }

  @Test
  void aWaitEndsInTime() throws InterruptedException {
    for (int i = 0; i < 20; i++) {
      long begun = System.nanoTime();
      assertThat(wakeSignal.await(() -> false, SHORT)).isFalse();
      assertThat(System.nanoTime() - begun).isGreaterThanOrEqualTo(SHORT);
    }
  }

  /** The timer task of the long wait is too late for the two others. */
  @Test
  void aShortWaitAfterALongOneEndsInTime() throws InterruptedException {
    var looks = new AtomicInteger();
    assertThat(wakeSignal.await(() -> looks.incrementAndGet() > 2 || ringSoon(), LONG)).isTrue();
    assertThat(wakeSignal.await(() -> false, SHORT)).isFalse();
    assertThat(timer.getQueue()).as("alarms still set").isEmpty();
  }

  private boolean ringSoon() {
    Thread.ofVirtual().start(wakeSignal::signal);
    return false;
  }

  /** The early timer task costs one more check. */
  @Test
  void aLongWaitAfterAShortOneEndsInTime() throws InterruptedException {
    var ready = new AtomicBoolean(true);
    assertThat(wakeSignal.await(() -> ready.getAndSet(true), SHORT)).isTrue();
    long begun = System.nanoTime();
    assertThat(wakeSignal.await(() -> false, 3 * SHORT)).isFalse();
    assertThat(System.nanoTime() - begun).isGreaterThanOrEqualTo(3 * SHORT);
  }

  @Test
  void aClosedSignalLeavesNoTimerTask() throws InterruptedException {
    var looks = new AtomicInteger();
    assertThat(wakeSignal.await(() -> looks.incrementAndGet() > 2 || ringSoon(), LONG)).isTrue();
    assertThat(timer.getQueue()).hasSize(1);

    wakeSignal.close();

    assertThat(timer.getQueue()).isEmpty();
    assertThat(wakeSignal.await(() -> false, SHORT)).isFalse();
  }

  /** A lock that another thread holds parks its waiter, which takes the permit of a ring. */
  @Test
  void aSignalWhileTheTimerIsScheduledWakesTheConsumer() throws InterruptedException {
    var ready = new AtomicBoolean();
    var contended =
        new ScheduledThreadPoolExecutor(1) {
          @Override
          public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
            ready.set(true);
            ringing.signal();
            LockSupport.park();
            return super.schedule(task, delay, unit);
          }
        };
    try {
      ringing = new WakeSignal(contended);
      assertThat(ringing.await(ready::get, LONG)).isTrue();
    } finally {
      contended.shutdownNow();
    }
  }

  @Test
  void anInterruptEndsTheWait() {
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> wakeSignal.await(() -> false, LONG))
        .isInstanceOf(InterruptedException.class);
  }
}
