package io.dynamo.frontend.admission;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.config.ModelBounds;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import java.util.Comparator;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/**
 * The door of one model: so many requests inside, so many before it, by urgency and then in order
 * of arrival. A place that becomes free is handed to the first who waits, so that nobody passes who
 * came later; when the queue is full, one that goes first takes the place of the last. A request
 * waits on its caller's thread, which should be virtual. Safe for concurrent use.
 */
final class ModelGate {
  private static final Comparator<Waiter> ORDER =
      Comparator.<Waiter>comparingLong(waiter -> -waiter.urgency.strictPriority())
          .thenComparingDouble(waiter -> waiter.arrivalSeconds)
          .thenComparingLong(waiter -> waiter.number);

  private enum State {
    WAITING,
    INSIDE,
    DISPLACED,
    CANCELLED,
    TURNED_AWAY
  }

  /** A place inside. Closing it gives it to the next; idempotent, from any thread. */
  final class Place implements AutoCloseable {
    private final AtomicBoolean taken = new AtomicBoolean(true);
    private final int texts;

    private Place(int texts) {
      this.texts = texts;
    }

    @Override
    public void close() {
      if (taken.compareAndSet(true, false)) {
        leave(texts);
      }
    }
  }

  private static final class Waiter {
    final Urgency urgency;
    final double arrivalSeconds; // less what it jumps
    final long number;
    final Condition turn;
    final int texts;
    State state = State.WAITING; // guarded by lock

    Waiter(Urgency urgency, double arrivalSeconds, long number, Condition turn, int texts) {
      this.urgency = urgency;
      this.arrivalSeconds = arrivalSeconds;
      this.number = number;
      this.turn = turn;
      this.texts = texts;
    }
  }

  private final String model;
  private final ModelBounds bounds;
  private final GateMeters meters;
  private final LongSupplier nanoClock;
  private final long epochNanos;
  private final ReentrantLock lock = new ReentrantLock();
  private final TreeSet<Waiter> waiters = new TreeSet<>(ORDER); // guarded by lock
  private final DeparturePace pace = new DeparturePace(); // guarded by lock
  private int inside; // texts; guarded by lock; where the first who waits fits, nobody waits
  private long numbers; // guarded by lock
  private boolean closed; // guarded by lock

  /**
   * @param nanoClock as {@link System#nanoTime()}
   */
  ModelGate(String model, ModelBounds bounds, GateMeters meters, LongSupplier nanoClock) {
    this.model = model;
    this.bounds = bounds;
    this.meters = meters;
    this.nanoClock = nanoClock;
    this.epochNanos = nanoClock.getAsLong();
  }

  /**
   * Takes a place, at once or after a wait.
   *
   * @param texts that the request is for: each counts as one inside
   * @param share what the request holds: while it waits, among those that wait
   * @throws ApiException with 429 and {@code Retry-After} when there is no room; with 503 when the
   *     gate is closed
   * @throws DeadlineExceededException when the deadline passes first
   * @throws CancelledException when the cancellation is raised to kill first
   */
  Place enter(
      Urgency urgency,
      int texts,
      BodyBudget.Share share,
      Deadline deadline,
      Cancellation cancellation)
      throws InterruptedException {
    int counted = Math.min(texts, bounds.running()); // as all of it, when it is more than all
    lock.lock();
    try {
      if (hasRoom(counted)) {
        return take(counted);
      }
    } finally {
      lock.unlock();
    }
    try (var _ = share.park(model)) {
      Waiter waiter;
      lock.lock();
      try {
        if (hasRoom(counted)) { // since a moment ago
          return take(counted);
        }
        waiter = queue(urgency, counted);
      } finally {
        lock.unlock();
      }
      return await(waiter, deadline, cancellation);
    }
  }

  /** Called with the lock. */
  private boolean hasRoom(int texts) {
    if (closed) {
      throw new ApiException(ApiError.unavailable("Service is not ready", null));
    }
    return waiters.isEmpty() && inside + texts <= bounds.running();
  }

  /** Called with the lock. */
  private Place take(int texts) {
    inside += texts;
    if (inside == bounds.running()) {
      pace.full(nanoClock.getAsLong());
    }
    return new Place(texts);
  }

  /** Called with the lock. */
  private Waiter queue(Urgency urgency, int texts) {
    double arrival = (nanoClock.getAsLong() - epochNanos) / 1e9 - urgency.jumpSeconds();
    var waiter = new Waiter(urgency, arrival, numbers++, lock.newCondition(), texts);
    if (waiters.size() >= bounds.waiting()) {
      if (waiters.isEmpty() || ORDER.compare(waiter, waiters.last()) > 0) {
        throw refused(RefusalReason.QUEUE_FULL);
      }
      wake(waiters.last(), State.DISPLACED);
    }
    waiters.add(waiter);
    return waiter;
  }

  private Place await(Waiter waiter, Deadline deadline, Cancellation cancellation)
      throws InterruptedException {
    long begun = System.nanoTime();
    meters.began();
    try (var _ = cancellation.onCancel(level -> onCancel(waiter, level))) {
      return await(waiter, deadline, begun + bounds.patience().toNanos());
    } finally {
      meters.waited(System.nanoTime() - begun);
    }
  }

  private Place await(Waiter waiter, Deadline deadline, long until) throws InterruptedException {
    lock.lock();
    try {
      while (waiter.state == State.WAITING) {
        if (deadline.isExpired()) {
          throw new DeadlineExceededException("the deadline passed while it waited for its turn");
        }
        long left = until - System.nanoTime();
        if (left <= 0) {
          throw refused(RefusalReason.WAITED_TOO_LONG);
        }
        var _ = waiter.turn.awaitNanos(Math.min(left, Math.max(1, deadline.remainingNanos())));
      }
      return switch (waiter.state) {
        case INSIDE -> new Place(waiter.texts);
        case DISPLACED -> throw refused(RefusalReason.DISPLACED);
        case CANCELLED -> throw new CancelledException("the client left while it waited");
        case TURNED_AWAY ->
            throw new ApiException(ApiError.unavailable("Service is shutting down", null));
        case WAITING -> throw new IllegalStateException("it waits no more");
      };
    } catch (InterruptedException e) {
      if (waiter.state == State.INSIDE) {
        leave(waiter.texts); // handed over in the same moment
      }
      throw e;
    } finally {
      waiters.remove(waiter);
      admitWaiters(); // it may have been the first, and too large for the room there is
      lock.unlock();
    }
  }

  /** Called with the lock; what is to be thrown. */
  private ApiException refused(RefusalReason reason) {
    meters.refused(reason);
    int seconds = pace.secondsUntil(waiters.size() + 1, nanoClock.getAsLong());
    var state =
        "model `%s` has %d requests under way and %d waiting"
            .formatted(model, inside, waiters.size());
    var why =
        switch (reason) {
          case WAITED_TOO_LONG ->
              ", and this one has waited for %d ms".formatted(bounds.patience().toMillis());
          case DISPLACED -> ", and one of higher priority took this one's place";
          case QUEUE_FULL, SERVER_FULL, WORKERS_BUSY -> " and takes no more";
        };
    return new ApiException(
        ApiError.overloaded(429, state + why + "; retry in " + seconds + " s", seconds));
  }

  private void onCancel(Waiter waiter, Cancellation.Level level) {
    if (level == Cancellation.Level.KILL) {
      lock.lock();
      try {
        wake(waiter, State.CANCELLED);
      } finally {
        lock.unlock();
      }
    }
  }

  /** Called with the lock. Takes the waiter out of the queue, unless it has left. */
  private void wake(Waiter waiter, State state) {
    if (waiter.state == State.WAITING) {
      waiters.remove(waiter);
      waiter.state = state;
      waiter.turn.signal();
    }
  }

  private void leave(int texts) {
    lock.lock();
    try {
      pace.departed(nanoClock.getAsLong());
      inside -= texts;
      admitWaiters();
    } finally {
      lock.unlock();
    }
  }

  /** Called with the lock. Hands the room that there is to the first who wait. */
  private void admitWaiters() {
    while (!waiters.isEmpty() && inside + waiters.first().texts <= bounds.running()) {
      inside += waiters.first().texts;
      wake(waiters.first(), State.INSIDE);
    }
  }

  /** Turns away those who wait and those who come. Who is inside stays. Idempotent. */
  void close() {
    lock.lock();
    try {
      closed = true;
      while (!waiters.isEmpty()) {
        wake(waiters.first(), State.TURNED_AWAY);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Those who wait now. */
  int waiting() {
    lock.lock();
    try {
      return waiters.size();
    } finally {
      lock.unlock();
    }
  }
}
