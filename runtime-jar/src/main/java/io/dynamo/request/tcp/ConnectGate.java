package io.dynamo.request.tcp;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Bounds the connections that are being established at once, in all and to one worker, so that
 * workers which do not answer leave room for others. The rest wait in the order of their arrival.
 * Safe for concurrent use.
 */
final class ConnectGate {
  /** The most connections that are being established to one worker. */
  static final int MOST_TO_ONE = 2;

  private record Waiting(Object worker, Runnable dial) {}

  private final int most;
  private final ArrayDeque<Waiting> waiting = new ArrayDeque<>(); // guarded by this
  private final Map<Object, Integer> dialled = new HashMap<>(); // by worker; guarded by this
  private int inside; // guarded by this

  ConnectGate(int most) {
    this.most = most;
  }

  /**
   * Runs {@code dial}, now or when others have left; whoever dials leaves once.
   *
   * @param worker the address that is dialled
   */
  void enter(Object worker, Runnable dial) {
    synchronized (this) {
      if (!hasRoom(worker)) {
        waiting.add(new Waiting(worker, dial));
        return;
      }
      count(worker);
    }
    dial.run();
  }

  /** Called once for each dial, when it has succeeded or failed. */
  void leave(Object worker) {
    Runnable next;
    synchronized (this) {
      inside--;
      dialled.computeIfPresent(worker, (_, dials) -> dials == 1 ? null : (Integer) (dials - 1));
      next = next();
    }
    if (next != null) {
      next.run();
    }
  }

  private boolean hasRoom(Object worker) {
    return inside < most && dialled.getOrDefault(worker, 0) < MOST_TO_ONE;
  }

  private void count(Object worker) {
    inside++;
    dialled.merge(worker, 1, Integer::sum);
  }

  /** Takes the first that may dial; null when there is none. */
  private @Nullable Runnable next() {
    for (var first = waiting.iterator(); first.hasNext(); ) {
      var one = first.next();
      if (hasRoom(one.worker())) {
        first.remove();
        count(one.worker());
        return one.dial();
      }
    }
    return null;
  }
}
