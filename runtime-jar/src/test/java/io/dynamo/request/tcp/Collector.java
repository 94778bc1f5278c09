package io.dynamo.request.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A subscriber that keeps what it hears. Waits are bounded and fail the test. */
final class Collector<T> implements Flow.Subscriber<T> {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final long demand;
  private final List<T> items = new ArrayList<>(); // guarded by this
  private final CountDownLatch ended = new CountDownLatch(1);
  private volatile Flow.@Nullable Subscription subscription;
  private volatile @Nullable Throwable failure;

  private Collector(long demand) {
    this.demand = demand;
  }

  /** Asks for {@code demand} items when subscribed. */
  static <T> Collector<T> of(Flow.Publisher<T> publisher, long demand) {
    var collector = new Collector<T>(demand);
    publisher.subscribe(collector);
    return collector;
  }

  static <T> Collector<T> all(Flow.Publisher<T> publisher) {
    return of(publisher, Long.MAX_VALUE);
  }

  @Override
  public void onSubscribe(Flow.Subscription given) {
    subscription = given;
    if (demand > 0) {
      given.request(demand);
    }
  }

  @Override
  public synchronized void onNext(T item) {
    items.add(item);
    notifyAll();
  }

  @Override
  public void onError(Throwable cause) {
    failure = cause;
    ended.countDown();
  }

  @Override
  public void onComplete() {
    ended.countDown();
  }

  void request(long more) {
    held().request(more);
  }

  void cancel() {
    held().cancel();
  }

  private Flow.Subscription held() {
    var held = subscription;
    if (held == null) {
      throw new AssertionError("not subscribed");
    }
    return held;
  }

  synchronized List<T> items() {
    return List.copyOf(items);
  }

  synchronized void awaitItems(int count) throws InterruptedException {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (items.size() < count) {
      long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
      assertThat(left).as("%d of %d items, then %s", items.size(), count, failure).isPositive();
      wait(left);
    }
  }

  List<T> awaitCompletion() throws InterruptedException {
    awaitEnd();
    if (failure != null) {
      throw new AssertionError("the stream failed", failure);
    }
    return items();
  }

  Throwable awaitFailure() throws InterruptedException {
    awaitEnd();
    var cause = failure;
    if (cause == null) {
      throw new AssertionError("the stream completed with " + items().size() + " items");
    }
    return cause;
  }

  void awaitEnd() throws InterruptedException {
    assertThat(ended.await(PATIENCE.toMillis(), TimeUnit.MILLISECONDS))
        .as("the stream ends; items so far: %d", items().size())
        .isTrue();
  }

  boolean hasCompleted() {
    return hasEnded() && failure == null;
  }

  boolean hasEnded() {
    return ended.getCount() == 0;
  }
}
