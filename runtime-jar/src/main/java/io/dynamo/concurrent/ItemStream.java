package io.dynamo.concurrent;

import java.util.Objects;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A bounded stream from one producer thread at a time to one subscriber. The producer offers items
 * until told to pause; the subscriber is called on whichever thread made progress possible (the
 * producer's, or the one that requested), never on two at once.
 *
 * <p>Invariant: at most {@code capacity} items are held, and every accepted item is delivered in
 * order before the end, unless the subscription is cancelled.
 */
public final class ItemStream<T> implements Flow.Publisher<T> {
  private final @Nullable Object[] ring;
  private final Runnable onDrained;
  private final Runnable onCancel;
  private final AtomicLong demand = new AtomicLong();
  private final AtomicInteger work =
      new AtomicInteger(); // drain passes owed; the thread that raises it from 0 drains

  private volatile long head; // next to deliver; written by the draining thread
  private volatile long tail; // next free; written by the producer
  private volatile boolean paused; // the producer was told that the ring is full
  private volatile boolean done; // no item follows
  private volatile @Nullable Throwable failure; // written before done
  private volatile boolean cancelled;
  private volatile @Nullable Throwable violation; // the subscriber broke a rule of Flow
  private volatile Flow.@Nullable Subscriber<? super T> subscriber;
  private boolean subscribed; // guarded by this
  private boolean ended; // touched by the draining thread only

  /**
   * @param capacity items held at most
   * @param onDrained called when a producer that was told to pause may offer again; may run on the
   *     subscriber's thread
   * @param onCancel called once when the subscriber gives up
   */
  public ItemStream(int capacity, Runnable onDrained, Runnable onCancel) {
    if (capacity < 1) {
      throw new IllegalArgumentException("capacity " + capacity + " is below 1");
    }
    this.ring = new Object[capacity];
    this.onDrained = onDrained;
    this.onCancel = onCancel;
  }

  /**
   * Adds an item. Items after the end or after a cancel are dropped.
   *
   * @return whether there is room for another; if not, the producer waits for {@code onDrained}
   * @throws IllegalStateException when the ring is full, that is when the producer did not wait
   */
  public boolean offer(T item) {
    Objects.requireNonNull(item);
    if (cancelled || done) {
      return true;
    }
    long at = tail;
    if (at - head == ring.length) {
      throw new IllegalStateException(
          "a stream of " + ring.length + " items is full; its producer must wait for onDrained");
    }
    ring[(int) (at % ring.length)] = item;
    boolean full = at + 1 - head >= ring.length;
    if (full) {
      paused = true;
    }
    tail = at + 1;
    drain();
    return !paused;
  }

  /** Ends the stream after the items offered so far. */
  public void complete() {
    done = true;
    drain();
  }

  /** Ends the stream with {@code cause} after the items offered so far. The first end counts. */
  public void fail(Throwable cause) {
    if (!done) {
      failure = Objects.requireNonNull(cause);
      done = true;
      drain();
    }
  }

  public boolean isCancelled() {
    return cancelled;
  }

  @Override
  public void subscribe(Flow.Subscriber<? super T> next) {
    Objects.requireNonNull(next);
    synchronized (this) {
      if (subscribed) {
        next.onSubscribe(new Refused());
        next.onError(new IllegalStateException("this stream has its one subscriber already"));
        return;
      }
      subscribed = true;
    }
    next.onSubscribe(new Demand());
    subscriber = next;
    drain();
  }

  private void drain() {
    if (work.getAndIncrement() != 0) {
      return;
    }
    int passes = 1;
    do {
      pass();
      passes = work.addAndGet(-passes);
    } while (passes != 0);
  }

  @SuppressWarnings("unchecked") // the ring holds what offer put there
  private void pass() {
    var to = subscriber;
    if (to == null || ended) {
      return;
    }
    long delivered = 0;
    long wanted = demand.get();
    while (!cancelled) {
      var broken = violation;
      if (broken != null) {
        end();
        onCancel.run();
        to.onError(broken);
        return;
      }
      boolean last = done;
      if (head == tail) {
        if (last) {
          end();
          var cause = failure;
          if (cause == null) {
            to.onComplete();
          } else {
            to.onError(cause);
          }
          return;
        }
        break;
      }
      if (delivered == wanted) {
        break;
      }
      long at = head;
      int slot = (int) (at % ring.length);
      var item = (T) Objects.requireNonNull(ring[slot]);
      ring[slot] = null;
      head = at + 1;
      delivered++;
      to.onNext(item);
    }
    if (cancelled) {
      end();
      return;
    }
    if (delivered > 0 && wanted != Long.MAX_VALUE) {
      demand.addAndGet(-delivered);
    }
    if (paused && tail - head <= ring.length / 2) {
      paused = false;
      onDrained.run();
    }
  }

  private void end() {
    ended = true;
    subscriber = null;
  }

  private final class Demand implements Flow.Subscription {
    @Override
    public void request(long count) {
      if (count <= 0) {
        violation =
            new IllegalArgumentException(
                "a demand of " + count + " is not positive (Reactive Streams 3.9)");
      } else {
        demand.accumulateAndGet(count, (a, b) -> a + b < 0 ? Long.MAX_VALUE : a + b);
      }
      drain();
    }

    @Override
    public void cancel() {
      if (!cancelled) {
        cancelled = true;
        onCancel.run();
        drain();
      }
    }
  }

  private static final class Refused implements Flow.Subscription {
    @Override
    public void request(long count) {}

    @Override
    public void cancel() {}
  }
}
