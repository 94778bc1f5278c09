package io.dynamo.router;

import io.dynamo.kv.WorkerRank;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Which rank each session is bound to. A session is forgotten when it has been idle for its time;
 * when the table is full, the longest idle one goes first, and a new one is not bound while all are
 * at work. Safe for concurrent use.
 */
final class SessionTable {
  static final int MAX_SESSIONS = 65_536;

  /** A request of a session; what is bound stays while one is open. */
  interface Lease extends AutoCloseable {
    /** Of a request without a session. */
    Lease NONE = () -> {};

    @Override
    void close();
  }

  private static final class Bound {
    final WorkerRank rank;
    int leases;
    long idleSince;

    Bound(WorkerRank rank) {
      this.rank = rank;
    }
  }

  private final long ttlNanos;
  private final int capacity;
  private final LongSupplier nanoClock;
  private final Map<String, Bound> working = new HashMap<>(); // guarded by this
  private final LinkedHashMap<String, Bound> idle = new LinkedHashMap<>(); // oldest first; by this

  SessionTable(Duration ttl, int capacity, LongSupplier nanoClock) {
    this.ttlNanos = ttl.toNanos();
    this.capacity = capacity;
    this.nanoClock = nanoClock;
  }

  /** The rank of session {@code id}, or null. */
  synchronized @Nullable WorkerRank rank(String id) {
    expire();
    var bound = working.get(id);
    if (bound == null) {
      bound = idle.get(id);
    }
    return bound == null ? null : bound.rank;
  }

  /** Binds session {@code id} to {@code rank}, in place of any other rank, while leased. */
  synchronized Lease lease(String id, WorkerRank rank) {
    expire();
    var bound = working.get(id);
    if (bound == null) {
      bound = idle.remove(id);
    }
    if (bound == null || !bound.rank.equals(rank)) {
      working.remove(id);
      bound = new Bound(rank);
    }
    if (working.size() >= capacity && !working.containsKey(id)) {
      return Lease.NONE;
    }
    if (working.size() + idle.size() >= capacity && !idle.isEmpty()) {
      idle.pollFirstEntry();
    }
    working.put(id, bound);
    bound.leases++;
    var leased = bound;
    var open = new AtomicBoolean(true);
    return () -> {
      if (open.compareAndSet(true, false)) {
        release(id, leased);
      }
    };
  }

  private synchronized void release(String id, Bound bound) {
    bound.leases--;
    if (bound.leases == 0 && working.get(id) == bound) {
      working.remove(id);
      bound.idleSince = nanoClock.getAsLong();
      idle.putLast(id, bound);
    }
  }

  /** Unbinds session {@code id} if it is bound to {@code rank}. */
  synchronized void unbind(String id, WorkerRank rank) {
    remove(working, id, rank);
    remove(idle, id, rank);
  }

  private static void remove(Map<String, Bound> from, String id, WorkerRank rank) {
    var bound = from.get(id);
    if (bound != null && bound.rank.equals(rank)) {
      from.remove(id);
    }
  }

  private void expire() {
    long now = nanoClock.getAsLong();
    var oldest = idle.firstEntry();
    while (oldest != null && now - oldest.getValue().idleSince >= ttlNanos) {
      idle.pollFirstEntry();
      oldest = idle.firstEntry();
    }
  }

  synchronized int size() {
    return working.size() + idle.size();
  }
}
