package io.dynamo.concurrent;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * Hand-over between the thread that produces and the one that asks: nothing lost, doubled or late.
 */
public final class ItemStreamStress {
  private ItemStreamStress() {}

  /** Counts what arrives; called by one thread at a time. */
  private static final class Counting implements Flow.Subscriber<Integer> {
    Flow.@Nullable Subscription subscription;
    int items;
    int ends;

    @Override
    public void onSubscribe(Flow.Subscription given) {
      subscription = given;
    }

    @Override
    public void onNext(Integer item) {
      items++;
    }

    @Override
    public void onError(Throwable cause) {
      ends += 100;
    }

    @Override
    public void onComplete() {
      ends++;
    }

    void ask(long count) {
      var from = subscription;
      if (from != null) {
        from.request(count);
      }
    }
  }

  /** Two items and the end against two requests. */
  @JCStressTest
  @Outcome(id = "2, 1, 0", expect = ACCEPTABLE, desc = "both items, then the end")
  @Outcome(expect = FORBIDDEN, desc = "an item or the end was lost or doubled")
  @State
  public static class OffersAgainstRequests {
    private final Counting counting = new Counting();
    private final ItemStream<Integer> stream = new ItemStream<>(4, () -> {}, () -> {});

    /** Subscribed before the actors start. */
    public OffersAgainstRequests() {
      stream.subscribe(counting);
    }

    /** Produces. */
    @Actor
    public void producer() {
      stream.offer(1);
      stream.offer(2);
      stream.complete();
    }

    /** Asks. */
    @Actor
    public void consumer() {
      counting.ask(1);
      counting.ask(1);
    }

    /** Reports the items and ends that the subscriber got. */
    @Arbiter
    public void result(III_Result r) {
      r.r1 = counting.items;
      r.r2 = counting.ends;
      r.r3 = 0;
    }
  }

  /** A ring of one fills while its subscriber takes: the producer is resumed exactly once. */
  @JCStressTest
  @Outcome(id = "1, 0, 1", expect = ACCEPTABLE, desc = "never paused")
  @Outcome(id = "1, 1, 1", expect = ACCEPTABLE, desc = "paused, then resumed")
  @Outcome(expect = FORBIDDEN, desc = "a pause without an end, or an end without a pause")
  @State
  public static class PauseAgainstRequest {
    private final Counting counting = new Counting();
    private volatile int drained;
    private boolean waits;
    private final ItemStream<Integer> stream = new ItemStream<>(1, this::onDrained, () -> {});

    /** Subscribed before the actors start. */
    public PauseAgainstRequest() {
      stream.subscribe(counting);
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // called by one thread at a time
    private void onDrained() {
      drained++;
    }

    /** Fills the ring. */
    @Actor
    public void producer() {
      waits = !stream.offer(1);
    }

    /** Takes. */
    @Actor
    public void consumer() {
      counting.ask(1);
    }

    /** Whether pause and continuation match. */
    @Arbiter
    public void result(III_Result r) {
      r.r1 = counting.items;
      r.r2 = drained;
      r.r3 = waits == (drained == 1) ? 1 : 0;
    }
  }
}
