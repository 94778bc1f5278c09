package io.dynamo.worker.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class ThreadPacerTest {
  private static final long PATIENCE_SECONDS = 20;

  /** Work whose first tick is woken and then blocks on something else, such as a lock. */
  private static final class Blocking implements Pacer.Paced {
    final CountDownLatch begun = new CountDownLatch(1);
    final CountDownLatch woken = new CountDownLatch(1);
    final CountDownLatch second = new CountDownLatch(1);
    private final AtomicInteger ticks = new AtomicInteger();

    @Override
    public long tick(long now) {
      if (ticks.getAndIncrement() > 0) {
        second.countDown();
        return IDLE;
      }
      begun.countDown();
      boolean late = false;
      try {
        late = !woken.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
      } catch (InterruptedException e) {
        late = true;
      }
      LockSupport.parkNanos(1); // consumes the permit that the wake has left
      return late ? 0 : IDLE;
    }

    @Override
    public void end() {}
  }

  @Test
  void aWakeDuringATickThatBlocksIsNotLost() throws InterruptedException {
    var work = new Blocking();
    var driven = new ThreadPacer().drive("test-pacer", work);
    try {
      assertThat(work.begun.await(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
      driven.wake();
      work.woken.countDown();

      assertThat(work.second.await(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
    } finally {
      driven.close();
    }
  }
}
