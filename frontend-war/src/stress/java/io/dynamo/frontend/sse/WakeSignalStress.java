package io.dynamo.frontend.sse;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/** A consumer that parks, against the thread that signals. */
public final class WakeSignalStress {
  private static final long LIMIT = TimeUnit.SECONDS.toNanos(60); // passes only if a signal is lost
  private static final ScheduledThreadPoolExecutor TIMER = timer();

  private WakeSignalStress() {}

  private static ScheduledThreadPoolExecutor timer() {
    var timer =
        new ScheduledThreadPoolExecutor(
            1, task -> Thread.ofPlatform().daemon().name("stress-timer").unstarted(task));
    timer.setRemoveOnCancelPolicy(true);
    return timer;
  }

  /** One wait and one signal, over a timer that both threads use. */
  @JCStressTest
  @Outcome(id = "1", expect = ACCEPTABLE, desc = "the consumer saw it, at once or by the signal")
  @Outcome(expect = FORBIDDEN, desc = "the signal was lost: only the alarm woke the consumer")
  @State
  public static class SignalAgainstAwait {
    private final WakeSignal wakeSignal = new WakeSignal(TIMER);
    private volatile boolean ready;

    /** Signals, after some work on the timer. */
    @Actor
    public void producer() {
      TIMER.schedule(() -> {}, 1, TimeUnit.HOURS).cancel(false);
      ready = true;
      wakeSignal.signal();
    }

    /** Waits. */
    @Actor
    public void consumer(I_Result r) {
      long begun = System.nanoTime();
      try {
        boolean heard = wakeSignal.await(() -> ready, LIMIT);
        r.r1 = heard && System.nanoTime() - begun < LIMIT ? 1 : 0;
      } catch (InterruptedException e) {
        r.r1 = -1;
      }
      wakeSignal.close();
    }
  }

  /** Two items and the end of a stream, taken by a consumer that waits for each. */
  @JCStressTest
  @Outcome(id = "2, 1", expect = ACCEPTABLE, desc = "both items, then the end")
  @Outcome(expect = FORBIDDEN, desc = "an item, the end or a signal was lost")
  @State
  public static class InboxAgainstPolls {
    private final WakeSignal wakeSignal = new WakeSignal(TIMER);
    private final Inbox<Integer> inbox = new Inbox<>(2, wakeSignal);

    /** Produces. */
    @Actor
    public void producer() {
      inbox.onNext(1);
      inbox.onNext(2);
      inbox.onComplete();
    }

    /** Takes until the end. */
    @Actor
    public void consumer(II_Result r) {
      long begun = System.nanoTime();
      try {
        while (!inbox.ended() && System.nanoTime() - begun < LIMIT) {
          if (inbox.poll() != null) {
            r.r1++;
          } else {
            inbox.await(LIMIT);
          }
        }
        r.r2 = System.nanoTime() - begun < LIMIT ? 1 : 0;
      } catch (InterruptedException e) {
        r.r2 = -1;
      }
      wakeSignal.close();
    }
  }
}
