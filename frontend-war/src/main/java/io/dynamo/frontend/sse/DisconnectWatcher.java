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
 * Cancels requests whose client hung up or stopped reading, even while nothing is written to them.
 * {@link #watch} and {@link #close} are safe for concurrent use; everything else runs on one thread
 * of its own, which sleeps while nothing happens.
 *
 * <p>A client is watched only after its request has run for the grace time: most short requests are
 * over by then, and adding many clients at once costs less than adding each.
 */
public final class DisconnectWatcher implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(DisconnectWatcher.class.getName());
  private static final Duration MOST = Duration.ofHours(1);
  private static final Duration LAST_TURN = Duration.ofSeconds(2);
  private static final long RETRY_NANOS = 100_000_000;
  private static final int LOOKS_PER_STALL = 8;

  private final HangUpDetector clients;
  private final long graceNanos;
  private final long stallNanos;
  private final ConcurrentMap<Long, ClientConnection> inFlight = new ConcurrentHashMap<>();
  private final Set<Long> unwatched = ConcurrentHashMap.newKeySet(); // of those in flight
  private final AtomicLong ids = new AtomicLong();
  private final AtomicBoolean expected = new AtomicBoolean(); // a scan for new clients will follow
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
  DisconnectWatcher(HangUpDetector clients, Duration grace, Duration writeStall) {
    this.clients = clients;
    this.graceNanos = grace.toNanos();
    this.stallNanos = writeStall.toNanos();
    thread.setDaemon(true);
  }

  /** A watcher at work, see the constructor; to be closed. */
  public static DisconnectWatcher started(
      HangUpDetector clients, Duration grace, Duration writeStall) {
    var watcher = new DisconnectWatcher(clients, grace, writeStall);
    watcher.thread.start();
    return watcher;
  }

  /**
   * Watches the client of one request until the registration is closed. After that the request is
   * no longer cancelled here.
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

  /** Runs one turn. A turn that fails leaves the state of all requests unchanged. */
  private void tryTurn() {
    try {
      turn();
      failing = false;
    } catch (RuntimeException | Error e) {
      if (!failing) {
        failing = true;
        LOG.log(Level.WARNING, "clients that hang up are detected by heartbeats only for now", e);
      }
      LockSupport.parkNanos(RETRY_NANOS);
    }
  }

  /** Waits for the next event and runs the tasks that are due. */
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

  /** The time of the next scan: scans take at most a tenth of the thread's time. */
  private long later(long begun) {
    long now = System.nanoTime();
    return now + Math.max(graceNanos, 9 * (now - begun));
  }

  /** Passes new clients to the detector. Returns whether another scan is needed. */
  private boolean takeArrivals() {
    var arrived = new ArrayList<HangUpDetector.WatchedClient>();
    for (var id : List.copyOf(unwatched)) {
      var client = inFlight.get(id);
      if (client != null && unwatched.remove(id)) {
        arrived.add(new HangUpDetector.WatchedClient(id, client));
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
        LOG.log(
            Level.WARNING,
            "the thread that watches for disconnected clients did not end within 2 s");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
