package io.dynamo.concurrent;

import java.util.Objects;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A bounded stream from one producer thread at a time to one subscriber. The producer offers items
 * until asked to pause; the subscriber is called on the thread that made progress possible (the
 * producer's, or the requesting one), never on two at once. Any thread may end the stream.
 *
 * <p>Invariant: at most {@code capacity} items are held, and every accepted item is delivered in
 * order before the end, unless the subscription is cancelled or the stream aborted. A subscriber
 * that throws counts as cancelled.
 */
public final class ItemStream<T> implements Flow.Publisher<T> {
  private static final System.Logger LOG = System.getLogger(ItemStream.class.getName());

  /**
   * The state of the ring as the producer knows it. {@code FULL}: the ring is full, but the
   * producer has not been asked to pause. {@code PAUSED}: the producer was asked to pause and waits
   * for one call of onDrained; a call without a waiting producer could end a later wait too early.
   */
  private enum Room {
    FREE,
    FULL,
    PAUSED
  }

  /** The end of the stream: a null {@code cause} is completion; {@code now} drops held items. */
  private record End(@Nullable Throwable cause, boolean now) {}

  private final @Nullable Object[] ring;
  private final Runnable onDrained;
  private final Runnable onCancel;
  private final AtomicLong demand = new AtomicLong();
  private final AtomicInteger work =
      new AtomicInteger(); // drain passes due; the thread that raises it from 0 drains
  private final AtomicReference<@Nullable End> end = new AtomicReference<>();
  private final AtomicBoolean cancelled = new AtomicBoolean();
  private final AtomicBoolean cancelRan = new AtomicBoolean();
  private final AtomicBoolean subscribed = new AtomicBoolean();

  private volatile long head; // next to deliver; written by the draining thread
  private volatile long tail; // next free; written by the producer
  private final AtomicReference<Room> room = new AtomicReference<>(Room.FREE);
  private volatile Flow.@Nullable Subscriber<? super T> subscriber;
  private volatile boolean
      ended; // the subscriber has received its last signal; written by the draining thread

  /**
   * @param capacity limit of held items
   * @param onDrained called once for each time that {@link #offer} asked its producer to pause; may
   *     run on the subscriber's thread
   * @param onCancel called once when the subscriber cancels
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
   * @throws IllegalStateException when the ring is full, because the producer did not wait
   */
  public boolean offer(T item) {
    Objects.requireNonNull(item);
    if (ended || cancelled.get() || end.get() != null) {
      return true;
    }
    long at = tail;
    if (at - head == ring.length) {
      throw new IllegalStateException(
          "a stream of " + ring.length + " items is full; its producer must wait for onDrained");
    }
    ring[(int) (at % ring.length)] = item;
    tail = at + 1;
    if (at + 1 - head >= ring.length) {
      room.set(Room.FULL); // after the item and before the pass that must see both
    }
    drain();
    return room.get() == Room.FREE || !room.compareAndSet(Room.FULL, Room.PAUSED);
  }

  /** Ends the stream after the items offered so far. The first end counts. */
  public void complete() {
    end(new End(null, false));
  }

  /** Ends the stream with {@code cause} after the items offered so far. The first end counts. */
  public void fail(Throwable cause) {
    end(new End(Objects.requireNonNull(cause), false));
  }

  /**
   * Ends the stream with {@code cause} at once; held items are dropped. Also replaces another end
   * that has not reached the subscriber yet.
   */
  public void abort(Throwable cause) {
    end.set(new End(Objects.requireNonNull(cause), true));
    drain();
  }

  private void end(End with) {
    if (end.compareAndSet(null, with)) {
      drain();
    }
  }

  public boolean isCancelled() {
    return cancelled.get();
  }

  @Override
  public void subscribe(Flow.Subscriber<? super T> next) {
    Objects.requireNonNull(next);
    if (!subscribed.compareAndSet(false, true)) {
      next.onSubscribe(new Refused());
      next.onError(new IllegalStateException("this stream has its one subscriber already"));
      return;
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

  private void pass() {
    var to = subscriber;
    if (to == null || ended) {
      return;
    }
    try {
      deliver(to);
    } catch (RuntimeException e) { // violates the rules of Flow; the producer must not be affected
      LOG.log(System.Logger.Level.WARNING, "a subscriber failed and is treated as gone", e);
      giveUp();
    }
    if (cancelled.get()) {
      finish();
    } else {
      makeRoom();
    }
  }

  /**
   * Frees the room when the ring is half empty. Unless the room is free the producer is paused, so
   * the tail read after it is exact.
   */
  private void makeRoom() {
    for (var now = room.get();
        now != Room.FREE && tail - head <= ring.length / 2;
        now = room.get()) {
      if (room.compareAndSet(now, Room.FREE)) {
        if (now == Room.PAUSED) {
          onDrained.run();
        }
        return;
      }
    }
  }

  @SuppressWarnings("unchecked") // the ring holds what offer put there
  private void deliver(Flow.Subscriber<? super T> to) {
    long wanted = demand.get();
    long delivered = 0;
    while (!cancelled.get()) {
      var last = end.get(); // read before the tail: nothing is offered after an end
      long at = head;
      if (last != null && (last.now || at == tail)) {
        finish();
        if (last.cause == null) {
          to.onComplete();
        } else {
          to.onError(last.cause);
        }
        return;
      }
      if (at == tail || delivered == wanted) {
        break;
      }
      int slot = (int) (at % ring.length);
      var item = (T) Objects.requireNonNull(ring[slot]);
      ring[slot] = null;
      head = at + 1;
      delivered++;
      to.onNext(item);
    }
    if (delivered > 0 && wanted != Long.MAX_VALUE) {
      demand.addAndGet(-delivered);
    }
  }

  private void finish() {
    ended = true;
    subscriber = null;
  }

  private void giveUp() {
    cancelled.set(true);
    giveUpOnce();
  }

  private void giveUpOnce() {
    if (cancelRan.compareAndSet(false, true)) {
      onCancel.run();
    }
  }

  private final class Demand implements Flow.Subscription {
    @Override
    public void request(long count) {
      if (count <= 0) {
        if (!ended && !cancelled.get()) {
          abort(
              new IllegalArgumentException(
                  "a demand of " + count + " is not positive (Reactive Streams 3.9)"));
          giveUpOnce();
        }
        return;
      }
      demand.accumulateAndGet(count, (a, b) -> a + b < 0 ? Long.MAX_VALUE : a + b);
      drain();
    }

    @Override
    public void cancel() {
      giveUp();
      drain();
    }
  }

  private static final class Refused implements Flow.Subscription {
    @Override
    public void request(long count) {}

    @Override
    public void cancel() {}
  }
}
