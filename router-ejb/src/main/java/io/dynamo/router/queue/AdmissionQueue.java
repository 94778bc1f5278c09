package io.dynamo.router.queue;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.config.router.RouterSettings;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.error.OverloadedException;
import io.dynamo.metrics.Metrics;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Queue of requests that cannot be placed yet: bounded in number, each with a deadline, ordered by
 * class, priority and policy. A request waits on its caller's thread, which should be virtual. No
 * request overtakes an earlier one of the same class and priority. Safe for concurrent use.
 */
public final class AdmissionQueue implements AutoCloseable {
  /** Tries to place a request. Called on one thread, without a lock. */
  public interface Attempt<T> {
    /**
     * Places the request; returns null when it must wait, which only a class that waits may do.
     * Called repeatedly.
     *
     * @param policy the request's class
     * @param queuedNanos nanoseconds that the request has waited here; 0 before it waits
     */
    @Nullable T place(PolicyClass policy, long queuedNanos);

    /**
     * Returns the prompt tokens that the best rank has cached, by the latest lookup; does the first
     * lookup itself.
     */
    long cachedTokens();
  }

  /** Waiters re-check at least this often, in case a wake-up was missed. */
  private static final long RECHECK_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Counts of the waiting requests and prompt tokens of one class, in all lanes. */
  private static final class Tally {
    long requests;
    long promptTokens;
    long cachedTokens;

    void count(Waiter waiter, int sign) {
      requests += sign;
      promptTokens += (long) sign * waiter.ticket.promptTokens();
      cachedTokens += sign * waiter.cachedTokens;
    }
  }

  private final RouterSettings.Queueing settings;
  private final PolicyProfile profile;
  private final IntSupplier workers;
  private final List<QueueMeters> meters;
  private final LongSupplier nanoClock;
  private final long epochNanos;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<Object, Lane> lanes = new HashMap<>(); // guarded by lock
  private final List<Tally> tallies; // by class; guarded by lock
  private final AtomicLong reliefs = new AtomicLong();
  private final AtomicInteger waiting = new AtomicInteger(); // changed under lock
  private long numbers; // guarded by lock
  private boolean closed; // guarded by lock

  /**
   * Creates an empty queue.
   *
   * @param workers returns the number of workers; the limits of classes grow with it
   * @param meters returns the meters of a class
   * @param nanoClock as {@link System#nanoTime()}
   */
  public AdmissionQueue(
      RouterSettings.Queueing settings,
      PolicyProfile profile,
      IntSupplier workers,
      Function<PolicyClass, QueueMeters> meters,
      LongSupplier nanoClock) {
    this.settings = settings;
    this.profile = profile;
    this.workers = workers;
    this.meters = profile.classes().stream().map(meters).toList();
    this.tallies = profile.classes().stream().map(_ -> new Tally()).toList();
    this.nanoClock = nanoClock;
    this.epochNanos = nanoClock.getAsLong();
  }

  /**
   * Returns the result of {@code attempt}, at once or after a wait.
   *
   * @throws OverloadedException when too many requests wait, or this one has waited too long
   * @throws DeadlineExceededException when the ticket's deadline passes first
   * @throws CancelledException when the ticket's cancellation is raised to kill first
   */
  public <T> T admit(Ticket ticket, Attempt<T> attempt) {
    int policyClass = classOf(ticket, attempt);
    meters.get(policyClass).received.increment();
    var placed = tryNow(ticket, policyClass, attempt);
    return placed != null ? placed : await(ticket, policyClass, attempt);
  }

  /**
   * Returns the result of {@code attempt} if it can be placed at once; null where it would have to
   * wait.
   */
  public <T> @Nullable T admitNow(Ticket ticket, Attempt<T> attempt) {
    int policyClass = classOf(ticket, attempt);
    var placed = tryNow(ticket, policyClass, attempt);
    if (placed != null) {
      meters.get(policyClass).received.increment();
    }
    return placed;
  }

  private int classOf(Ticket ticket, Attempt<?> attempt) {
    return profile.classes().size() == 1
        ? 0
        : profile.classOf(
            ticket.policyClass(), Math.max(0, ticket.promptTokens() - attempt.cachedTokens()));
  }

  private <T> @Nullable T tryNow(Ticket ticket, int policyClass, Attempt<T> attempt) {
    var policy = profile.classes().get(policyClass);
    return policy.waits() && hasBacklog(ticket.lane(), policyClass)
        ? null
        : attempt.place(policy, 0);
  }

  private boolean hasBacklog(Object key, int policyClass) {
    if (waiting.get() == 0) {
      return false;
    }
    lock.lock();
    try {
      var lane = lanes.get(key);
      return lane != null && lane.hasBacklog(policyClass);
    } finally {
      lock.unlock();
    }
  }

  private <T> T await(Ticket ticket, int policyClass, Attempt<T> attempt) {
    long begin = nanoClock.getAsLong();
    long end = begin + settings.timeout().toNanos();
    var waiter =
        enter(ticket, policyClass, Math.min(attempt.cachedTokens(), ticket.promptTokens()));
    meters.get(policyClass).entered(ticket.promptTokens(), waiter.cachedTokens);
    boolean isPlaced = false;
    try (Cancellation.Registration _ =
        ticket.cancellation().onCancel(level -> onCancel(waiter, level))) {
      while (true) {
        long seen = reliefs.get();
        if (isTurn(waiter)) {
          var placed =
              attempt.place(profile.classes().get(policyClass), nanoClock.getAsLong() - begin);
          if (placed != null) {
            isPlaced = true;
            return placed;
          }
          passOn(waiter, seen);
        }
        pause(waiter, seen, end);
      }
    } finally {
      leave(waiter, isPlaced);
      meters.get(policyClass).left(ticket.promptTokens(), waiter.cachedTokens);
    }
  }

  private Waiter enter(Ticket ticket, int policyClass, long cachedTokens) {
    int workersNow = workers.getAsInt();
    lock.lock();
    try {
      if (closed) {
        throw new OverloadedException("the router is closed");
      }
      if (waiting.get() >= settings.capacity()) {
        meters.get(policyClass).full.increment();
        throw new OverloadedException(
            "%d requests wait for a worker already, dynamo.router.queue-capacity allows no more; add workers or retry"
                .formatted(waiting.get()));
      }
      checkLimits(policyClass, workersNow);
      var policy = profile.classes().get(policyClass);
      var waiter =
          new Waiter(
              ticket,
              policyClass,
              cachedTokens,
              score(policy, ticket, cachedTokens),
              numbers++,
              lock.newCondition());
      lanes.computeIfAbsent(ticket.lane(), _ -> new Lane(profile.classes())).add(waiter);
      tallies.get(policyClass).count(waiter, 1);
      waiting.incrementAndGet();
      return waiter;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Throws when the waiting requests have reached a limit; the request that reaches it still waits.
   */
  private void checkLimits(int policyClass, int workersNow) {
    var policy = profile.classes().get(policyClass);
    var tally = tallies.get(policyClass);
    var counted = meters.get(policyClass);
    check(policy, "requests", policy.requestLimit(), tally.requests, workersNow, counted.full);
    check(
        policy,
        "prompt tokens",
        policy.promptTokenLimit(),
        tally.promptTokens,
        workersNow,
        counted.manyTokens);
    check(
        policy,
        "cached tokens",
        policy.cachedTokenLimit(),
        tally.cachedTokens,
        workersNow,
        counted.manyCachedTokens);
  }

  private static void check(
      PolicyClass policy,
      String what,
      @Nullable Long limitPerWorker,
      long now,
      int workersNow,
      Metrics.Counter refused) {
    if (limitPerWorker != null && now >= limitPerWorker * workersNow) {
      refused.increment();
      throw new OverloadedException(
          "%d %s of policy class %s wait for a worker already, and its limit is %d for each of %d workers; add workers or retry"
              .formatted(now, what, policy.name(), limitPerWorker, workersNow));
    }
  }

  private double score(PolicyClass policy, Ticket ticket, long cachedTokens) {
    double arrival = (nanoClock.getAsLong() - epochNanos) / 1e9;
    return switch (policy.order()) {
      case FCFS -> ticket.jumpSeconds() - arrival;
      case LCFS -> ticket.jumpSeconds() + arrival;
      case WSPT -> (1 + ticket.jumpSeconds()) / Math.max(1, ticket.promptTokens() - cachedTokens);
    };
  }

  private boolean isTurn(Waiter waiter) {
    lock.lock();
    try {
      check(waiter);
      return lane(waiter).turn() == waiter;
    } finally {
      lock.unlock();
    }
  }

  private Lane lane(Waiter waiter) {
    return Objects.requireNonNull(lanes.get(waiter.ticket.lane())); // present while it waits
  }

  private void check(Waiter waiter) {
    if (waiter.cancelled) {
      throw new CancelledException("the request was cancelled while it waited for a worker");
    }
    if (closed) {
      throw new OverloadedException("the router is closed");
    }
  }

  /** Lets the next class try, unless there may be room again since {@code seen}. */
  private void passOn(Waiter waiter, long seen) {
    lock.lock();
    try {
      if (reliefs.get() == seen) {
        var lane = lane(waiter);
        lane.block(waiter);
        wakeTurn(lane);
      }
    } finally {
      lock.unlock();
    }
  }

  private static void wakeTurn(Lane lane) {
    var next = lane.turn();
    if (next != null) {
      next.turn.signal();
    }
  }

  @SuppressWarnings("WaitNotInLoop") // the caller tries again after any wake-up
  private void pause(Waiter waiter, long seen, long end) {
    lock.lock();
    try {
      check(waiter);
      long now = nanoClock.getAsLong();
      if (waiter.ticket.deadline().isExpired()) {
        meters.get(waiter.policyClass).late();
        throw new DeadlineExceededException("the deadline passed while it waited for a worker");
      }
      if (end - now <= 0) {
        meters.get(waiter.policyClass).late();
        throw new OverloadedException(
            "no worker had room within dynamo.router.queue-timeout; add workers or retry");
      }
      if (reliefs.get() == seen && lane(waiter).turn() != waiter) {
        long nanos =
            Math.min(
                RECHECK_NANOS,
                Math.min(end - now, Math.max(1, waiter.ticket.deadline().remainingNanos())));
        if (waiter.turn.awaitNanos(nanos) <= 0) {
          lane(waiter).unblock(waiter);
        }
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

  private void leave(Waiter waiter, boolean isPlaced) {
    lock.lock();
    try {
      var lane = lanes.get(waiter.ticket.lane());
      if (lane != null && lane.remove(waiter, isPlaced)) {
        waiting.decrementAndGet();
        tallies.get(waiter.policyClass).count(waiter, -1);
        if (lane.isEmpty()) {
          lanes.remove(waiter.ticket.lane());
        } else {
          wakeTurn(lane);
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** Called when there may be room: the first waiter of each lane tries again. */
  public void relieved() {
    reliefs.incrementAndGet(); // before waiting is read; new waiters do the reverse
    if (waiting.get() > 0) {
      lock.lock();
      try {
        for (var lane : lanes.values()) {
          lane.unblockAll();
          wakeTurn(lane);
        }
      } finally {
        lock.unlock();
      }
    }
  }

  /** Whether requests of any class ever wait. */
  public boolean waits() {
    return profile.waits();
  }

  /** Returns the number of requests that wait now. */
  public int waiting() {
    return waiting.get();
  }

  /** Rejects all waiting requests and all later ones that would wait. Idempotent. */
  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      lanes.values().forEach(Lane::wakeAll);
    } finally {
      lock.unlock();
    }
  }
}
