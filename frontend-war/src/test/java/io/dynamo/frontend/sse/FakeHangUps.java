package io.dynamo.frontend.sse;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongConsumer;

/** A detector of hang-ups that a test controls. Safe for concurrent use. */
public class FakeHangUps implements HangUpDetector {
  private final Map<InetSocketAddress, Long> watched = new HashMap<>(); // guarded by this
  private final Set<InetSocketAddress> gone = new HashSet<>(); // guarded by this
  private boolean rung; // guarded by this

  /** A watcher whose thread was never started, so that it watches no client. */
  public static DisconnectWatcher unwatched() {
    return unwatched(new NoHangUpDetector());
  }

  /** A watcher whose thread was never started, with a given detector. */
  public static DisconnectWatcher unwatched(HangUpDetector clients) {
    return new DisconnectWatcher(clients, Duration.ofHours(1), Duration.ofHours(1));
  }

  /** A running watcher that uses this detector. To be closed. */
  public DisconnectWatcher watcher() {
    return DisconnectWatcher.started(this, Duration.ofMillis(1), Duration.ofHours(1));
  }

  /** Also for requests that are yet to come from there. */
  public synchronized void leave(InetSocketAddress client) {
    gone.add(client);
    notifyAll();
  }

  /** Waits until a request from there is watched. */
  public synchronized void awaitWatched(InetSocketAddress client) throws InterruptedException {
    long until = System.nanoTime() + Duration.ofSeconds(20).toNanos();
    while (!watched.containsKey(client)) {
      long left = until - System.nanoTime();
      if (left <= 0) {
        throw new AssertionError(client + " is not watched");
      }
      wait(left / 1_000_000 + 1);
    }
  }

  @Override
  public synchronized void watch(List<WatchedClient> arrived) {
    for (var one : arrived) {
      watched.put(one.client().remote(), one.id());
    }
    notifyAll();
  }

  @Override
  public void await(Duration atMost, LongConsumer left) {
    departed(atMost).forEach(left::accept);
  }

  private synchronized List<Long> departed(Duration atMost) {
    long until = System.nanoTime() + atMost.toNanos();
    try {
      while (!rung && gone.stream().noneMatch(watched::containsKey)) {
        long nanos = until - System.nanoTime();
        if (nanos <= 0) {
          break;
        }
        wait(nanos / 1_000_000, (int) (nanos % 1_000_000));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    rung = false;
    var ids = new ArrayList<Long>();
    for (var client : gone) {
      var id = watched.remove(client);
      if (id != null) {
        ids.add(id);
      }
    }
    return ids;
  }

  @Override
  public synchronized void wake() {
    rung = true;
    notifyAll();
  }

  @Override
  public void close() {
    // nothing is held
  }
}
