package io.dynamo.router.session;

import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.SessionBinding;
import io.dynamo.kv.WorkerRank;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Maps each session to the rank that it is bound to. A session is removed when it has been idle for
 * the time to live. When the table is full, the session that has been idle longest is removed
 * first; a new session is not bound while all sessions have running requests. Safe for concurrent
 * use.
 */
public final class SessionTable {
  /** The greatest number of sessions; Dynamo's bound. */
  public static final int MAX_SESSIONS = 65_536;

  /**
   * The greatest lead of another router's clock over ours; sequences further ahead do not advance
   * ours.
   */
  private static final long MAX_AHEAD_NANOS = TimeUnit.MINUTES.toNanos(1);

  /** A running request of a session; the session's binding stays while a lease is open. */
  public interface Lease extends AutoCloseable {
    /** The lease of a request without a session. */
    Lease NONE = () -> {};

    @Override
    void close();
  }

  /** The result of applying a binding that another router published. */
  public enum LearnOutcome {
    BOUND,
    REFRESHED,
    MOVED,
    /** The local binding is later. */
    STALE,
    /** The table is full. */
    FULL
  }

  private static final class Bound {
    final SessionTarget target;
    long sequence;
    InstanceId writer;
    int leases;
    long idleSince;

    Bound(SessionTarget target, long sequence, InstanceId writer) {
      this.target = target;
      this.sequence = sequence;
      this.writer = writer;
    }

    boolean isBefore(SessionBinding other) {
      int order = Long.compareUnsigned(sequence, other.sequence());
      return order < 0
          || (order == 0 && Long.compareUnsigned(writer.value(), other.writer().value()) < 0);
    }
  }

  private final long ttlNanos;
  private final int capacity;
  private final InstanceId self;
  private final LongSupplier nanoClock;
  private final LongSupplier wallNanos;
  private final Map<String, Bound> working = new HashMap<>(); // guarded by this
  private final LinkedHashMap<String, Bound> idle = new LinkedHashMap<>(); // oldest first; by this
  private Consumer<SessionBinding> listener = _ -> {}; // guarded by this
  private long lastSequence; // guarded by this

  /**
   * Creates an empty table.
   *
   * @param ttl how long an idle session is kept
   * @param self the id under which this router publishes its bindings
   * @param nanoClock as {@link System#nanoTime()}
   * @param wallNanos nanoseconds since 1970; decides which of two routers has bound a session later
   */
  public SessionTable(
      Duration ttl, int capacity, InstanceId self, LongSupplier nanoClock, LongSupplier wallNanos) {
    this.ttlNanos = ttl.toNanos();
    this.capacity = capacity;
    this.self = self;
    this.nanoClock = nanoClock;
    this.wallNanos = wallNanos;
  }

  /**
   * Sets the listener that is called, in order, whenever a session is bound or used here. It is
   * called under a lock and must not block.
   */
  synchronized void setListener(Consumer<SessionBinding> to) {
    listener = to;
  }

  /** Returns the target that session {@code id} is bound to; null when it is not bound. */
  public synchronized @Nullable SessionTarget target(String id) {
    expire();
    var bound = find(id);
    return bound == null ? null : bound.target;
  }

  private @Nullable Bound find(String id) {
    var bound = working.get(id);
    return bound == null ? idle.get(id) : bound;
  }

  /**
   * Binds session {@code id} to {@code rank}, in place of {@code known}, while leased.
   *
   * @param known the result of {@link #target} when the rank was chosen
   * @return null when the session has been bound elsewhere since: the request belongs there
   */
  public synchronized @Nullable Lease lease(
      String id, WorkerRank rank, @Nullable SessionTarget known) {
    expire();
    var bound = find(id);
    if (bound != null && !bound.target.covers(rank) && !bound.target.equals(known)) {
      return null;
    }
    idle.remove(id);
    var exact = SessionTarget.of(rank);
    if (bound == null || !bound.target.equals(exact)) {
      working.remove(id);
      bound = new Bound(exact, nextSequence(), self);
    }
    if (!working.containsKey(id)) {
      if (working.size() >= capacity) {
        return Lease.NONE;
      }
      if (working.size() + idle.size() >= capacity) {
        idle.pollFirstEntry();
      }
    }
    working.put(id, bound);
    bound.leases++;
    listener.accept(toPublish(id, bound));
    var leased = bound;
    var open = new AtomicBoolean(true);
    return () -> {
      if (open.compareAndSet(true, false)) {
        release(id, leased);
      }
    };
  }

  private long nextSequence() {
    long now = wallNanos.getAsLong();
    lastSequence =
        Long.compareUnsigned(now, lastSequence) > 0 ? now : lastSequence + 1; // unique and rising
    return lastSequence;
  }

  /**
   * Returns the binding as this router publishes it; the publisher is its writer, as in Dynamo,
   * even when another router bound the session.
   */
  private SessionBinding toPublish(String id, Bound bound) {
    return new SessionBinding(id, bound.target.worker(), bound.target.rank(), bound.sequence, self);
  }

  private synchronized void release(String id, Bound bound) {
    bound.leases--;
    if (bound.leases == 0 && working.get(id) == bound) {
      working.remove(id);
      rest(id, bound);
      listener.accept(toPublish(id, bound));
    }
  }

  private void rest(String id, Bound bound) {
    bound.idleSince = nanoClock.getAsLong();
    idle.putLast(id, bound);
  }

  /**
   * Applies a binding that another router published. A session that is bound to the same target is
   * refreshed; one that is bound elsewhere moves when the other router has bound it later.
   */
  synchronized LearnOutcome learn(SessionBinding other) {
    expire();
    if (Long.compareUnsigned(other.sequence(), wallNanos.getAsLong() + MAX_AHEAD_NANOS) <= 0
        && Long.compareUnsigned(other.sequence(), lastSequence) > 0) {
      lastSequence = other.sequence(); // later local bindings are then later
    }
    var id = other.sessionId();
    var bound = find(id);
    var target = new SessionTarget(other.worker(), other.rank());
    if (bound != null && bound.target.equals(target)) {
      if (bound.isBefore(other)) {
        bound.sequence = other.sequence();
        bound.writer = other.writer();
      }
      if (bound.leases == 0) {
        idle.remove(id);
        rest(id, bound);
      }
      return LearnOutcome.REFRESHED;
    }
    if (bound != null && !bound.isBefore(other)) {
      return LearnOutcome.STALE;
    }
    if (bound == null && working.size() + idle.size() >= capacity) {
      return LearnOutcome.FULL;
    }
    working.remove(id); // running requests end where they are
    idle.remove(id);
    rest(id, new Bound(target, other.sequence(), other.writer()));
    return bound == null ? LearnOutcome.BOUND : LearnOutcome.MOVED;
  }

  /** Unbinds session {@code id} if it is bound to {@code target}. */
  public synchronized void unbind(String id, SessionTarget target) {
    remove(working, id, target);
    remove(idle, id, target);
  }

  private static void remove(Map<String, Bound> from, String id, SessionTarget target) {
    var bound = from.get(id);
    if (bound != null && bound.target.equals(target)) {
      from.remove(id);
    }
  }

  /** Unbinds all sessions of all workers but {@code workers}. */
  synchronized void keep(Set<InstanceId> workers) {
    working.values().removeIf(bound -> !workers.contains(bound.target.worker()));
    idle.values().removeIf(bound -> !workers.contains(bound.target.worker()));
  }

  private void expire() {
    long now = nanoClock.getAsLong();
    var oldest = idle.firstEntry();
    while (oldest != null && now - oldest.getValue().idleSince >= ttlNanos) {
      idle.pollFirstEntry();
      oldest = idle.firstEntry();
    }
  }

  /** Returns the number of sessions that are bound now. */
  public synchronized int size() {
    expire();
    return working.size() + idle.size();
  }
}
