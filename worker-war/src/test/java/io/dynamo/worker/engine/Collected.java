package io.dynamo.worker.engine;

import io.dynamo.inference.EngineOutput;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Collects the items of a stream, and its end. */
public final class Collected implements Flow.Subscriber<EngineOutput> {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final CountDownLatch end = new CountDownLatch(1);
  private final CountDownLatch first = new CountDownLatch(1);
  private final List<EngineOutput> items = new ArrayList<>(); // guarded by this
  private final long demand;
  private volatile Flow.@Nullable Subscription subscription;
  private volatile @Nullable Throwable failure;

  private Collected(long demand) {
    this.demand = demand;
  }

  public static Collected all(Flow.Publisher<EngineOutput> from) {
    return from(from, Long.MAX_VALUE);
  }

  public static Collected from(Flow.Publisher<EngineOutput> from, long demand) {
    var collected = new Collected(demand);
    from.subscribe(collected);
    return collected;
  }

  public void request(long more) {
    subscription().request(more);
  }

  public void cancel() {
    subscription().cancel();
  }

  private Flow.Subscription subscription() {
    var known = subscription;
    if (known == null) {
      throw new AssertionError("no subscription came");
    }
    return known;
  }

  /** Returns the items so far. */
  public synchronized List<EngineOutput> items() {
    return List.copyOf(items);
  }

  public int[] tokens() {
    return items().stream().flatMapToInt(item -> IntStream.of(item.tokenIds())).toArray();
  }

  public EngineOutput last() {
    return items().getLast();
  }

  public @Nullable Throwable failure() {
    return failure;
  }

  public boolean isEnded() {
    return end.getCount() == 0;
  }

  /** Waits for the end, at most ten seconds. */
  public Collected ended() throws InterruptedException {
    return await(end, PATIENCE, "no end within 10 s");
  }

  /** Waits for the end, at most so long. */
  public Collected ended(Duration most) throws InterruptedException {
    return await(end, most, "no end within " + most);
  }

  /** Waits for the first item, at most ten seconds. */
  public Collected begun() throws InterruptedException {
    return await(first, PATIENCE, "no item within 10 s");
  }

  private Collected await(CountDownLatch latch, Duration most, String otherwise)
      throws InterruptedException {
    if (!latch.await(most.toNanos(), TimeUnit.NANOSECONDS)) {
      throw new AssertionError(otherwise);
    }
    return this;
  }

  @Override
  public void onSubscribe(Flow.Subscription to) {
    subscription = to;
    if (demand > 0) {
      to.request(demand);
    }
  }

  @Override
  public synchronized void onNext(EngineOutput item) {
    items.add(item);
    first.countDown();
  }

  @Override
  public void onError(Throwable cause) {
    failure = cause;
    end.countDown();
  }

  @Override
  public void onComplete() {
    end.countDown();
  }
}
