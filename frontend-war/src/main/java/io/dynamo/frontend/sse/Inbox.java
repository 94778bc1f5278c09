package io.dynamo.frontend.sse;

import io.dynamo.error.DynamoException;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import java.util.Objects;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A bounded queue between the publisher of a stream and the one thread that consumes it. The
 * publisher's thread never blocks; the consumer parks. At most {@code capacity} items are requested
 * and held; demand goes upstream as the consumer takes items.
 *
 * <p>With a {@link Window} the consumer sleeps on while items come, until it is released, unless
 * the item is the first, is urgent or fills half of the queue. While there are items, the inbox is
 * due or a release is on its way.
 */
public final class Inbox<T> implements Flow.Subscriber<T>, ItemSource<T> {
  private final int capacity;
  private final ArrayBlockingQueue<T> items;
  private volatile Flow.@Nullable Subscription subscription;
  private volatile @Nullable DynamoException failure; // written before done
  private volatile boolean done;
  private volatile boolean cancelled;
  private volatile boolean left;
  private final WakeSignal wakeSignal;
  private final @Nullable Window window;
  private final Predicate<? super T> urgent;
  private final AtomicBoolean held = new AtomicBoolean(); // a release is on its way
  private volatile boolean due; // read with a window only
  private volatile boolean begun; // the consumer has had an item; likewise
  private int taken; // since demand was last renewed; consumer only

  /**
   * @param capacity items held at most, at least 2
   * @param wakeSignal signalled when there is something to poll; shared by all inboxes of one
   *     consumer
   */
  public Inbox(int capacity, WakeSignal wakeSignal) {
    this(capacity, wakeSignal, null, _ -> true);
  }

  /**
   * @param window releases items that the consumer need not see at once; null when there are none
   * @param urgent which items it must see at once
   */
  public Inbox(
      int capacity, WakeSignal wakeSignal, @Nullable Window window, Predicate<? super T> urgent) {
    if (capacity < 2) {
      throw new IllegalArgumentException("an inbox of " + capacity + " items is below 2");
    }
    this.capacity = capacity;
    this.wakeSignal = wakeSignal;
    this.window = window;
    this.urgent = urgent;
    this.items = new ArrayBlockingQueue<>(capacity);
  }

  @Override
  public void onSubscribe(Flow.Subscription next) {
    Objects.requireNonNull(next);
    if (subscription != null || cancelled || done) {
      next.cancel();
      return;
    }
    subscription = next;
    if (cancelled || done) {
      next.cancel(); // given up between the check and the assignment
      return;
    }
    next.request(capacity);
  }

  @Override
  public void onNext(T item) {
    if (done || cancelled || left) {
      return;
    }
    if (!items.offer(item)) {
      abort(
          new EngineFailedException(
              ErrorCode.UNKNOWN,
              "a publisher sent more than the " + capacity + " asked for",
              null));
      return;
    }
    if (window == null) {
      wakeSignal.signal();
    } else if (!begun || items.size() >= capacity / 2 || urgent.test(item)) {
      due = true;
      wakeSignal.signal();
    } else if (held.compareAndSet(false, true)) {
      window.hold(this);
    }
  }

  /** Lets the consumer see what is held. */
  void release() {
    held.set(false); // before the look: an item that comes after it is held anew
    if (!items.isEmpty()) {
      due = true;
      wakeSignal.signal();
    }
  }

  @Override
  public void onError(Throwable cause) {
    end(
        cause instanceof DynamoException known
            ? known
            : new EngineFailedException(ErrorCode.UNKNOWN, "the stream failed", cause));
  }

  @Override
  public void onComplete() {
    end(null);
  }

  private void end(@Nullable DynamoException cause) {
    synchronized (this) {
      if (done) {
        return;
      }
      failure = cause;
      done = true;
    }
    wakeSignal.signal();
  }

  /** Ends the stream now with {@code cause} and cancels the producer. Safe from any thread. */
  public void abort(DynamoException cause) {
    end(cause);
    cancelUpstream();
  }

  @Override
  public @Nullable T poll() {
    boolean last = done; // read before the queue, to see all items offered before the end
    var item = next();
    if (item == null) {
      var cause = failure;
      if (last && cause != null) {
        throw cause;
      }
    }
    return item;
  }

  /** The next item that is ready, or null; unlike {@link #poll} it tells no failure. */
  public @Nullable T next() {
    var item = items.poll();
    if (item == null && window != null) {
      due = false;
      item = items.poll(); // one that came before the flag was cleared
      if (item != null) {
        due = true;
      }
    }
    if (item == null) {
      return null;
    }
    begun = true;
    if (++taken >= capacity / 2) {
      var upstream = subscription;
      int more = taken;
      taken = 0;
      if (upstream != null && !done) {
        upstream.request(more);
      }
    }
    return item;
  }

  @Override
  public boolean ended() {
    return done && failure == null && items.isEmpty();
  }

  @Override
  public boolean await(long nanos) throws InterruptedException {
    return wakeSignal.await(this::isReady, nanos);
  }

  /** Whether there is an item or the end to poll. */
  public boolean isReady() {
    return done || (window == null ? !items.isEmpty() : due);
  }

  @Override
  public void leave() {
    if (left || cancelled) {
      return;
    }
    left = true;
    items.clear();
    var upstream = subscription;
    if (upstream != null && !done) {
      upstream.request(Long.MAX_VALUE);
    }
  }

  @Override
  public void cancel() {
    if (left) {
      return;
    }
    cancelled = true;
    cancelUpstream();
  }

  private void cancelUpstream() {
    var upstream = subscription;
    if (upstream != null) {
      upstream.cancel();
    }
  }
}
