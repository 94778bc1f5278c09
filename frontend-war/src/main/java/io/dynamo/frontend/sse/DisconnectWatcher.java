package io.dynamo.frontend.sse;

import io.dynamo.concurrent.Cancellation;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Gives up requests whose client hung up or stopped reading, also while nothing is written to them.
 * One loop for the whole server, on a thread of {@code blocking}; it runs only while requests are
 * in flight. The methods are safe for concurrent use.
 *
 * <p>Without {@link HungUpPeers}, only stalls are found here; a client that hung up is then found
 * by the heartbeat, or when it is written to.
 */
public final class DisconnectWatcher implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(DisconnectWatcher.class.getName());

  private final @Nullable HungUpPeers hungUp;
  private final long pollNanos;
  private final long stallNanos;
  private final Executor blocking;
  private final Set<ClientConnection> inFlight = ConcurrentHashMap.newKeySet();
  private final Object lock = new Object();
  private boolean running; // guarded by lock
  private boolean closed; // guarded by lock
  private boolean blind; // loop only: the last scan told nothing
  private boolean failing; // loop only: the last look failed

  /**
   * @param hungUp null when this machine cannot tell
   * @param writeStall how long one write may take
   */
  public DisconnectWatcher(
      @Nullable HungUpPeers hungUp, Duration poll, Duration writeStall, Executor blocking) {
    this.hungUp = hungUp;
    this.pollNanos = poll.toNanos();
    this.stallNanos = writeStall.toNanos();
    this.blocking = blocking;
    if (hungUp == null) {
      LOG.log(
          Level.WARNING,
          "without the native library, clients that hang up are found by heartbeats only");
    }
  }

  /**
   * Watches over one request until the registration is closed; after that it is never given up
   * here, whatever becomes of its connection.
   *
   * @throws RuntimeException when the loop could not be started; nothing is watched then
   */
  public Cancellation.Registration watch(ClientConnection connection) {
    inFlight.add(connection);
    try {
      start();
    } catch (RuntimeException | Error e) {
      inFlight.remove(connection);
      throw e;
    }
    return () -> {
      connection.end();
      inFlight.remove(connection);
    };
  }

  private void start() {
    synchronized (lock) {
      if (!running && !closed) {
        blocking.execute(this::loop); // waits for the lock first
        running = true;
      }
    }
  }

  private void loop() {
    long tookNanos = 0;
    while (true) {
      synchronized (lock) {
        try {
          // of very many connections it looks less often: never for more than a tenth of the time
          long pause = Math.max(pollNanos, 9 * tookNanos);
          lock.wait(pause / 1_000_000, (int) (pause % 1_000_000));
        } catch (InterruptedException e) {
          closed = true;
          Thread.currentThread().interrupt();
        }
        if (closed || inFlight.isEmpty()) {
          running = false;
          return;
        }
      }
      long begun = System.nanoTime();
      tryLook();
      tookNanos = System.nanoTime() - begun;
    }
  }

  /** A look that failed costs nothing but time: the next one sees the same. */
  private void tryLook() {
    try {
      look();
      failing = false;
    } catch (RuntimeException | Error e) {
      if (!failing) {
        failing = true;
        LOG.log(Level.WARNING, "clients that hang up are found by heartbeats only for now", e);
      }
    }
  }

  /** One look at all that is in flight. */
  void look() {
    long now = System.nanoTime();
    var connections = new ArrayList<ClientConnection>();
    for (var connection : inFlight) {
      if (connection.writingNanos(now) > stallNanos) {
        connection.lose(ClientConnection.Loss.STALLED);
      } else {
        connections.add(connection);
      }
    }
    if (hungUp != null) {
      look(hungUp, connections);
    }
  }

  private void look(HungUpPeers kernel, List<ClientConnection> connections) {
    var peers = kernel.look(connections);
    if (peers == null) {
      if (!blind) {
        blind = true;
        LOG.log(
            Level.WARNING,
            "the kernel does not tell of closed connections; clients that hang up are found by"
                + " heartbeats only");
      }
      return;
    }
    if (blind) {
      blind = false;
      LOG.log(Level.INFO, "the kernel tells of closed connections");
    }
    for (int i = 0; i < connections.size(); i++) {
      var connection = connections.get(i);
      if (connection.isGone(peers.get(i))) {
        connection.lose(ClientConnection.Loss.HUNG_UP);
      }
    }
  }

  /** Stops the loop. Idempotent. */
  @Override
  public void close() {
    synchronized (lock) {
      closed = true;
      lock.notifyAll();
    }
  }
}
