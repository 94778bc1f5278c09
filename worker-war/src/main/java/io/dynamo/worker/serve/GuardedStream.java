package io.dynamo.worker.serve;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.error.DynamoException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.WorkerLostException;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * One generation's stream between its engine and its requester. Valid items pass unchanged; the
 * first violation ends the stream in an error that lets the requester migrate. Signals may come
 * from the engine's thread and {@link #lose} from any: the requester receives one at a time.
 */
final class GuardedStream implements Flow.Subscriber<EngineOutput>, Flow.Subscription {
  private final EngineGuard guard;
  private final RankWatch rank;
  private final Cancellation cancellation;
  private final Flow.Subscriber<? super EngineOutput> next;
  private final AtomicLong wanted = new AtomicLong();
  private volatile Flow.@Nullable Subscription engine;
  private volatile long delivered; // written under this
  private volatile long waitingSince; // while demand exceeds delivered
  private volatile boolean over; // the stream has ended (set under this), or was cancelled
  private boolean finished; // guarded by this: the last item was delivered

  /**
   * @param cancellation of the request: a cancelled stream may end without a finish reason
   */
  GuardedStream(
      EngineGuard guard,
      RankWatch rank,
      Cancellation cancellation,
      Flow.Subscriber<? super EngineOutput> next) {
    this.guard = guard;
    this.rank = rank;
    this.cancellation = cancellation;
    this.next = next;
    this.waitingSince = rank.now();
  }

  /**
   * Returns how long the requester has waited for an item, in nanoseconds; 0 when it does not wait.
   */
  long waitedNanos(long now) {
    return over || isIdle() ? 0 : now - waitingSince;
  }

  /** Whether the requester has no unmet demand at the moment. */
  boolean isIdle() {
    return wanted.get() <= delivered;
  }

  @Override
  public void onSubscribe(Flow.Subscription subscription) {
    engine = subscription;
    next.onSubscribe(this);
    rank.add(this); // only now: lose() may be called from here on
    if (over) {
      rank.remove(this);
    }
  }

  @Override
  public void onNext(EngineOutput item) {
    String broken;
    synchronized (this) {
      if (!over) {
        broken = guard.law().brokenBy(item);
        if (broken == null) {
          pass(item);
          return;
        }
      } else {
        broken = finished ? "an item came after the last" : null;
      }
    }
    fail(broken == null ? null : unlawful(broken));
    cancelEngine();
    if (broken != null) {
      guard.suspect(rank, broken, null);
    }
  }

  private void pass(EngineOutput item) { // caller holds this
    long count = delivered + 1; // no other thread writes it now
    delivered = count;
    waitingSince = guard.sign(rank);
    if (item.finishReason() == null) {
      next.onNext(item);
      return;
    }
    finished = true;
    over = true;
    rank.remove(this);
    if (item.finishReason() == FinishReason.ERROR) {
      guard.suspect(rank, "an item says that the engine failed", null);
    }
    next.onNext(item);
    next.onComplete();
  }

  private static WorkerLostException unlawful(String what) {
    return new WorkerLostException(
        ErrorCode.BACKEND_STREAM_INCOMPLETE, "the engine's answer cannot be used: " + what);
  }

  @Override
  public void onError(Throwable cause) {
    if (claimEnd()) {
      next.onError(guard.judge(rank, cause)); // without a lock: it may end other streams
    }
  }

  @Override
  public void onComplete() {
    if (!claimEnd()) {
      return; // by the last item, as it should be
    }
    var broken = "it ended without a finish reason";
    next.onError(unlawful(broken));
    if (!cancellation.isCancelled()) {
      guard.suspect(rank, broken, null);
    }
  }

  /** Ends the stream for the requester and cancels the engine's. */
  void lose(DynamoException cause) {
    if (fail(cause)) {
      cancelEngine();
    }
  }

  /**
   * Ends the stream in {@code cause}, unless it is null or the stream has ended.
   *
   * @return whether this call ended the stream
   */
  private boolean fail(@Nullable DynamoException cause) {
    if (cause == null || !claimEnd()) {
      return false;
    }
    next.onError(cause);
    return true;
  }

  /**
   * Claims the right to end the stream; no item is being delivered then.
   *
   * @return whether the caller alone may send the last signal
   */
  private synchronized boolean claimEnd() {
    if (over) {
      return false;
    }
    over = true;
    rank.remove(this);
    return true;
  }

  private void cancelEngine() {
    var from = engine;
    if (from != null) {
      from.cancel();
    }
  }

  @Override
  public void request(long count) {
    if (isIdle()) {
      waitingSince = rank.now();
    }
    if (count > 0) {
      wanted.accumulateAndGet(count, (a, b) -> a + b < 0 ? Long.MAX_VALUE : a + b);
    }
    var from = engine;
    if (from != null) {
      from.request(count);
    }
  }

  @Override
  public void cancel() {
    over = true; // the engine's later signals are dropped
    rank.remove(this);
    cancelEngine();
  }
}
