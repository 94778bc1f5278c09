package io.dynamo.frontend.sse;

import io.dynamo.concurrent.Cancellation;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Gives up requests whose client hung up or stopped reading, also while nothing is written to them.
 * {@link #watch} and {@link #close} are safe for concurrent use; all else is one thread's, which
 * sleeps while nothing happens.
 *
 * <p>A client is watched only when its request has run for a moment: most short ones are over by
 * then, and one look for all that came together costs less than one for each.
 */
public final class DisconnectWatcher implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(DisconnectWatcher.class.getName());
  private static final Duration MOST = Duration.ofHours(1);
  private static final Duration LAST_TURN = Duration.ofSeconds(2);
  private static final long RETRY_NANOS = 100_000_000;
  private static final int LOOKS_PER_STALL = 8;

  private final LeavingClients clients;
  private final long graceNanos;
  private final long stallNanos;
  private final ConcurrentMap<Long, ClientConnection> inFlight = new ConcurrentHashMap<>();
  private final Set<Long> unwatched = ConcurrentHashMap.newKeySet(); // of those in flight
  private final AtomicLong ids = new AtomicLong();
  private final AtomicBoolean expected = new AtomicBoolean(); // someone will look at who arrived
  private final Thread thread = new Thread(this::run, "disconnect-watcher");
  private volatile boolean closed;
  private long arrivalsDue = Long.MAX_VALUE; // the thread's alone, as are the next ones; nanos
  private long stallsDue = Long.MAX_VALUE;
  private boolean failing;

  /**
   * @param clients closed with this
   * @param grace how long a request runs before its client is watched
   * @param writeStall how long one write may take
   */
  DisconnectWatcher(LeavingClients clients, Duration grace, Duration writeStall) {
    this.clients = clients;
    this.graceNanos = grace.toNanos();
    this.stallNanos = writeStall.toNanos();
    thread.setDaemon(true);
  }

  /** A watcher at work, see the constructor; to be closed. */
  public static DisconnectWatcher started(
      LeavingClients clients, Duration grace, Duration writeStall) {
    var watcher = new DisconnectWatcher(clients, grace, writeStall);
    watcher.thread.start();
    return watcher;
  }

  /**
   * Watches over one request until the registration is closed; after that it is never given up
   * here, whatever becomes of its connection.
   */
  public Cancellation.Registration watch(ClientConnection connection) {
    Long id = ids.incrementAndGet();
    inFlight.put(id, connection);
    unwatched.add(id);
    if (expected.compareAndSet(false, true)) {
      clients.wake();
    }
    return () -> {
      connection.end();
      unwatched.remove(id);
      inFlight.remove(id);
    };
  }

  private void run() {
    try (clients) {
      while (!closed && !Thread.currentThread().isInterrupted()) {
        tryTurn();
      }
    }
  }

  /** A turn that failed costs nothing but time: what is known of the requests is as it was. */
  private void tryTurn() {
    try {
      turn();
      failing = false;
    } catch (RuntimeException | Error e) {
      if (!failing) {
        failing = true;
        LOG.log(Level.WARNING, "clients that hang up are found by heartbeats only for now", e);
      }
      LockSupport.parkNanos(RETRY_NANOS);
    }
  }

  /** Waits for what comes next, and does what is due. */
  void turn() {
    long now = System.nanoTime();
    clients.await(untilDue(now), this::left);
    now = System.nanoTime();
    if (expected.get() && arrivalsDue == Long.MAX_VALUE) {
      arrivalsDue = now + graceNanos;
    }
    if (stallsDue == Long.MAX_VALUE && !inFlight.isEmpty()) {
      stallsDue = now + stallNanos / LOOKS_PER_STALL;
    }
    if (arrivalsDue <= now) {
      arrivalsDue = takeArrivals() ? later(now) : Long.MAX_VALUE;
    }
    if (stallsDue <= now) {
      endStalls(now);
      stallsDue = inFlight.isEmpty() ? Long.MAX_VALUE : now + stallNanos / LOOKS_PER_STALL;
    }
  }

  private Duration untilDue(long now) {
    long due = Math.min(arrivalsDue, stallsDue);
    return due == Long.MAX_VALUE ? MOST : Duration.ofNanos(Math.max(0, due - now));
  }

  /** Of very many connections it looks less often: never for more than a tenth of the time. */
  private long later(long begun) {
    long now = System.nanoTime();
    return now + Math.max(graceNanos, 9 * (now - begun));
  }

  /** Whether more may come before anyone would be woken. */
  private boolean takeArrivals() {
    var arrived = new ArrayList<LeavingClients.Arrival>();
    for (var id : List.copyOf(unwatched)) {
      var client = inFlight.get(id);
      if (client != null && unwatched.remove(id)) {
        arrived.add(new LeavingClients.Arrival(id, client));
      }
    }
    if (!arrived.isEmpty()) {
      clients.watch(arrived);
      return true;
    }
    expected.set(false);
    return !unwatched.isEmpty() && expected.compareAndSet(false, true);
  }

  private void left(long id) {
    var connection = inFlight.get(id);
    if (connection != null) {
      connection.lose(ClientConnection.Loss.HUNG_UP);
    }
  }

  private void endStalls(long now) {
    for (var connection : inFlight.values()) {
      if (connection.writingNanos(now) > stallNanos) {
        connection.lose(ClientConnection.Loss.STALLED);
      }
    }
  }

  /** Ends the thread and waits for it. Idempotent. */
  @Override
  public void close() {
    closed = true;
    if (thread.getState() == Thread.State.NEW) {
      clients.close();
      return;
    }
    clients.wake();
    try {
      if (!thread.join(LAST_TURN)) {
        LOG.log(Level.WARNING, "the watcher over clients does not end");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
