package io.dynamo.router.queue;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.config.RouterSettings;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.error.OverloadedException;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Holds requests back until they can be placed: bounded in number, each by a deadline, in the order
 * of priority and policy. A request waits on its caller's thread, which should be virtual. Nobody
 * passes who came later with the same priority. Safe for concurrent use.
 */
public final class AdmissionQueue implements AutoCloseable {
  /** Tries to place a request. */
  public interface Attempt<T> {
    /** Null when it must wait. Called again and again, on one thread, without a lock. */
    @Nullable T place();

    /** Prompt tokens that the best rank has cached, by the last look. */
    long cachedTokens();
  }

  /** Whatever happens unheard of, the first of a lane tries again after this. */
  private static final long RECHECK_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final Comparator<Waiter> ORDER =
      Comparator.<Waiter>comparingInt(waiter -> waiter.ticket.strictPriority())
          .reversed()
          .thenComparingDouble(waiter -> -waiter.score)
          .thenComparingLong(waiter -> waiter.number);

  private static final class Waiter {
    final Ticket ticket;
    final double score;
    final long number;
    final Condition turn;
    boolean cancelled; // guarded by lock

    Waiter(Ticket ticket, double score, long number, Condition turn) {
      this.ticket = ticket;
      this.score = score;
      this.number = number;
      this.turn = turn;
    }
  }

  private final RouterSettings.Queueing settings;
  private final QueueMeters meters;
  private final LongSupplier nanoClock;
  private final long epochNanos;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<Object, PriorityQueue<Waiter>> lanes = new HashMap<>(); // guarded by lock
  private final AtomicLong reliefs = new AtomicLong();
  private final AtomicInteger waiting = new AtomicInteger(); // changed under lock
  private long numbers; // guarded by lock
  private boolean closed; // guarded by lock

  /**
   * @param nanoClock as {@link System#nanoTime()}
   */
  public AdmissionQueue(
      RouterSettings.Queueing settings, QueueMeters meters, LongSupplier nanoClock) {
    this.settings = settings;
    this.meters = meters;
    this.nanoClock = nanoClock;
    this.epochNanos = nanoClock.getAsLong();
  }

  /**
   * Returns what {@code attempt} places, at once or after a wait.
   *
   * @throws OverloadedException when too many wait, or this one has waited too long
   * @throws DeadlineExceededException when the ticket's deadline passes first
   * @throws CancelledException when its cancellation is raised to kill first
   */
  public <T> T admit(Ticket ticket, Attempt<T> attempt) {
    if (!hasBacklog(ticket.lane())) {
      var placed = attempt.place();
      if (placed != null) {
        return placed;
      }
    }
    return await(ticket, attempt);
  }

  private boolean hasBacklog(Object lane) {
    if (waiting.get() == 0) {
      return false;
    }
    lock.lock();
    try {
      return lanes.containsKey(lane);
    } finally {
      lock.unlock();
    }
  }

  private <T> T await(Ticket ticket, Attempt<T> attempt) {
    long end = nanoClock.getAsLong() + settings.timeout().toNanos();
    var waiter = enter(ticket, attempt.cachedTokens());
    long cached = Math.min(attempt.cachedTokens(), ticket.promptTokens());
    meters.entered(ticket.promptTokens(), cached);
    try (Cancellation.Registration _ =
        ticket.cancellation().onCancel(level -> onCancel(waiter, level))) {
      while (true) {
        long seen = reliefs.get();
        if (isFirst(waiter)) {
          var placed = attempt.place();
          if (placed != null) {
            return placed;
          }
        }
        pause(waiter, seen, end);
      }
    } finally {
      leave(waiter);
      meters.left(ticket.promptTokens(), cached);
    }
  }

  private Waiter enter(Ticket ticket, long cachedTokens) {
    lock.lock();
    try {
      if (closed) {
        throw new OverloadedException("the router is closed");
      }
      if (waiting.get() >= settings.capacity()) {
        meters.full.increment();
        throw new OverloadedException(
            "%d requests wait for a worker already, dynamo.router.queue-capacity allows no more; add workers or retry"
                .formatted(waiting.get()));
      }
      var waiter = new Waiter(ticket, score(ticket, cachedTokens), numbers++, lock.newCondition());
      lanes.computeIfAbsent(ticket.lane(), _ -> new PriorityQueue<>(ORDER)).add(waiter);
      waiting.incrementAndGet();
      return waiter;
    } finally {
      lock.unlock();
    }
  }

  private double score(Ticket ticket, long cachedTokens) {
    double arrival = (nanoClock.getAsLong() - epochNanos) / 1e9;
    return switch (settings.policy()) {
      case FCFS -> ticket.jumpSeconds() - arrival;
      case LCFS -> ticket.jumpSeconds() + arrival;
      case WSPT -> (1 + ticket.jumpSeconds()) / Math.max(1, ticket.promptTokens() - cachedTokens);
    };
  }

  private boolean isFirst(Waiter waiter) {
    lock.lock();
    try {
      check(waiter);
      var lane = lanes.get(waiter.ticket.lane());
      return lane != null && lane.peek() == waiter;
    } finally {
      lock.unlock();
    }
  }

  private void check(Waiter waiter) {
    if (waiter.cancelled) {
      throw new CancelledException("the request was cancelled while it waited for a worker");
    }
    if (closed) {
      throw new OverloadedException("the router is closed");
    }
  }

  @SuppressWarnings("WaitNotInLoop") // the caller tries again whatever woke it
  private void pause(Waiter waiter, long seen, long end) {
    lock.lock();
    try {
      check(waiter);
      long now = nanoClock.getAsLong();
      if (waiter.ticket.deadline().isExpired()) {
        meters.late.increment();
        throw new DeadlineExceededException("the deadline passed while it waited for a worker");
      }
      if (end - now <= 0) {
        meters.late.increment();
        throw new OverloadedException(
            "no worker had room within dynamo.router.queue-timeout; add workers or retry");
      }
      if (reliefs.get() == seen) {
        long nanos =
            Math.min(
                RECHECK_NANOS,
                Math.min(end - now, Math.max(1, waiter.ticket.deadline().remainingNanos())));
        var _ = waiter.turn.awaitNanos(nanos);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CancelledException("interrupted while it waited for a worker");
    } finally {
      lock.unlock();
    }
  }

  private void onCancel(Waiter waiter, Cancellation.Level level) {
    if (level == Cancellation.Level.KILL) {
      lock.lock();
      try {
        waiter.cancelled = true;
        waiter.turn.signal();
      } finally {
        lock.unlock();
      }
    }
  }

  private void leave(Waiter waiter) {
    lock.lock();
    try {
      var lane = lanes.get(waiter.ticket.lane());
      if (lane != null && lane.remove(waiter)) {
        waiting.decrementAndGet();
        reliefs.incrementAndGet(); // the next may be about to wait
        if (lane.isEmpty()) {
          lanes.remove(waiter.ticket.lane());
        } else {
          lane.element().turn.signal();
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** There may be room: the first of each lane tries again. */
  public void relieved() {
    reliefs.incrementAndGet(); // before looking who waits: who begins to wait looks the other way
    if (waiting.get() > 0) {
      lock.lock();
      try {
        lanes.values().forEach(lane -> lane.element().turn.signal());
      } finally {
        lock.unlock();
      }
    }
  }

  /** Requests that wait now. */
  public int waiting() {
    return waiting.get();
  }

  /** Refuses all who wait and all who come. Idempotent. */
  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      lanes.values().forEach(lane -> lane.forEach(waiter -> waiter.turn.signal()));
    } finally {
      lock.unlock();
    }
  }
}
