package io.dynamo.frontend.admission;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.config.frontend.ModelBounds;
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
 * Bounds the running and the waiting requests of one model. Requests wait in order of priority,
 * then of arrival. A freed permit goes to the first in the queue, so that no later request
 * overtakes it; when the queue is full, a request of higher priority displaces the last. A request
 * waits on its caller's thread, which should be virtual. Safe for concurrent use.
 */
final class ModelGate {
  private static final Comparator<QueuedRequest> ORDER =
      Comparator.<QueuedRequest>comparingLong(request -> -request.urgency.strictPriority())
          .thenComparingDouble(request -> request.arrivalSeconds)
          .thenComparingLong(request -> request.number);

  private enum State {
    WAITING,
    INSIDE,
    DISPLACED,
    CANCELLED,
    REFUSED
  }

  /** The right to run. Closing it passes it to the next request; idempotent, from any thread. */
  final class Permit implements AutoCloseable {
    private final AtomicBoolean taken = new AtomicBoolean(true);
    private final int texts;

    private Permit(int texts) {
      this.texts = texts;
    }

    @Override
    public void close() {
      if (taken.compareAndSet(true, false)) {
        leave(texts);
      }
    }
  }

  private static final class QueuedRequest {
    final Urgency urgency;
    final double arrivalSeconds; // minus the seconds of its priority
    final long number;
    final Condition turn;
    final int texts;
    State state = State.WAITING; // guarded by lock

    QueuedRequest(Urgency urgency, double arrivalSeconds, long number, Condition turn, int texts) {
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
  private final TreeSet<QueuedRequest> queue = new TreeSet<>(ORDER); // guarded by lock
  private final DeparturePace pace = new DeparturePace(); // guarded by lock
  private int
      inside; // running texts; guarded by lock; the first in the queue, if any, does not fit
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
   * Takes a permit, at once or after a wait.
   *
   * @param texts the number of texts of the request: each counts as one running request
   * @param share the request's memory, charged to waiting requests while it waits
   * @throws ApiException with 429 and {@code Retry-After} when there is no room; with 503 when the
   *     gate is closed
   * @throws DeadlineExceededException when the deadline passes first
   * @throws CancelledException when the cancellation is raised to kill first
   */
  Permit enter(
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
      QueuedRequest request;
      lock.lock();
      try {
        if (hasRoom(counted)) { // since a moment ago
          return take(counted);
        }
        request = enqueue(urgency, counted);
      } finally {
        lock.unlock();
      }
      return await(request, deadline, cancellation);
    }
  }

  /** Called with the lock. */
  private boolean hasRoom(int texts) {
    if (closed) {
      throw new ApiException(ApiError.unavailable("Service is not ready", null));
    }
    return queue.isEmpty() && inside + texts <= bounds.running();
  }

  /** Called with the lock. */
  private Permit take(int texts) {
    inside += texts;
    if (inside == bounds.running()) {
      pace.full(nanoClock.getAsLong());
    }
    return new Permit(texts);
  }

  /** Called with the lock. */
  private QueuedRequest enqueue(Urgency urgency, int texts) {
    double arrival = (nanoClock.getAsLong() - epochNanos) / 1e9 - urgency.jumpSeconds();
    var request = new QueuedRequest(urgency, arrival, numbers++, lock.newCondition(), texts);
    if (queue.size() >= bounds.waiting()) {
      if (queue.isEmpty() || ORDER.compare(request, queue.last()) > 0) {
        throw refused(RefusalReason.QUEUE_FULL);
      }
      wake(queue.last(), State.DISPLACED);
    }
    queue.add(request);
    return request;
  }

  private Permit await(QueuedRequest request, Deadline deadline, Cancellation cancellation)
      throws InterruptedException {
    long begun = System.nanoTime();
    meters.began();
    try (var _ = cancellation.onCancel(level -> onCancel(request, level))) {
      return await(request, deadline, begun + bounds.patience().toNanos());
    } finally {
      meters.waited(System.nanoTime() - begun);
    }
  }

  private Permit await(QueuedRequest request, Deadline deadline, long until)
      throws InterruptedException {
    lock.lock();
    try {
      while (request.state == State.WAITING) {
        if (deadline.isExpired()) {
          throw new DeadlineExceededException("the deadline passed while it waited for its turn");
        }
        long left = until - System.nanoTime();
        if (left <= 0) {
          throw refused(RefusalReason.WAITED_TOO_LONG);
        }
        var _ = request.turn.awaitNanos(Math.min(left, Math.max(1, deadline.remainingNanos())));
      }
      return switch (request.state) {
        case INSIDE -> new Permit(request.texts);
        case DISPLACED -> throw refused(RefusalReason.DISPLACED);
        case CANCELLED -> throw new CancelledException("the client left while it waited");
        case REFUSED ->
            throw new ApiException(ApiError.unavailable("Service is shutting down", null));
        case WAITING -> throw new IllegalStateException("it waits no more");
      };
    } catch (InterruptedException e) {
      if (request.state == State.INSIDE) {
        leave(request.texts); // handed over in the same moment
      }
      throw e;
    } finally {
      queue.remove(request);
      admitQueued(); // it may have been the first, and too large for the room there is
      lock.unlock();
    }
  }

  /** Counts a refusal and returns its exception. Called with the lock. */
  private ApiException refused(RefusalReason reason) {
    meters.refused(reason);
    int seconds = pace.secondsUntil(queue.size() + 1, nanoClock.getAsLong());
    var state =
        "model `%s` has %d requests under way and %d waiting"
            .formatted(model, inside, queue.size());
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

  private void onCancel(QueuedRequest request, Cancellation.Level level) {
    if (level == Cancellation.Level.KILL) {
      lock.lock();
      try {
        wake(request, State.CANCELLED);
      } finally {
        lock.unlock();
      }
    }
  }

  /** Takes the request out of the queue, unless it has left it. Called with the lock. */
  private void wake(QueuedRequest request, State state) {
    if (request.state == State.WAITING) {
      queue.remove(request);
      request.state = state;
      request.turn.signal();
    }
  }

  private void leave(int texts) {
    lock.lock();
    try {
      pace.departed(nanoClock.getAsLong());
      inside -= texts;
      admitQueued();
    } finally {
      lock.unlock();
    }
  }

  /** Admits waiting requests while there is room. Called with the lock. */
  private void admitQueued() {
    while (!queue.isEmpty() && inside + queue.first().texts <= bounds.running()) {
      inside += queue.first().texts;
      wake(queue.first(), State.INSIDE);
    }
  }

  /** Refuses waiting and new requests. Running requests go on. Idempotent. */
  void close() {
    lock.lock();
    try {
      closed = true;
      while (!queue.isEmpty()) {
        wake(queue.first(), State.REFUSED);
      }
    } finally {
      lock.unlock();
    }
  }

  /** The number of waiting requests. */
  int waiting() {
    lock.lock();
    try {
      return queue.size();
    } finally {
      lock.unlock();
    }
  }
}
