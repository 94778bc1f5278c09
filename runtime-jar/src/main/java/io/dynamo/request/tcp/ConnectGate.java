package io.dynamo.request.tcp;

import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Bounds the connections that are being established at once, in all and to one worker, so that
 * workers which do not answer leave room for others. The rest wait in the order of their arrival,
 * up to a bound; each may be withdrawn. Safe for concurrent use.
 */
final class ConnectGate {
  /** The most connections that are being established to one worker. */
  static final int MOST_TO_ONE = 2;

  /** The most connections that wait, far beyond those of a pool to the workers of a cluster. */
  static final int MOST_WAITING = 16_384;

  /** One connection before, in or behind the gate. */
  final class Turn {
    private final Object worker;
    private final Runnable dial;

    private Turn(Object worker, Runnable dial) {
      this.worker = worker;
      this.dial = dial;
    }

    /** Gives the turn up; returns false when it has come already. */
    boolean withdraw() {
      synchronized (ConnectGate.this) {
        return waiting.remove(this);
      }
    }

    /** Whether as many connections to this worker are being established as may be. */
    boolean isBehindItsWorker() {
      synchronized (ConnectGate.this) {
        return dialled.getOrDefault(worker, 0) >= MOST_TO_ONE;
      }
    }
  }

  private final int most;
  private final int mostWaiting;
  private final LinkedHashSet<Turn> waiting = new LinkedHashSet<>(); // guarded by this
  private final Map<Object, Integer> dialled = new HashMap<>(); // by worker; guarded by this
  private int inside; // guarded by this

  ConnectGate(int most) {
    this(most, MOST_WAITING);
  }

  ConnectGate(int most, int mostWaiting) {
    this.most = most;
    this.mostWaiting = mostWaiting;
  }

  /**
   * Runs {@code dial}, now or when others have left; whoever dials leaves once.
   *
   * @param worker the address that is dialled
   * @return null when too many wait already: {@code dial} is not run
   */
  @Nullable Turn enter(Object worker, Runnable dial) {
    var turn = new Turn(worker, dial);
    synchronized (this) {
      if (!hasRoom(worker)) {
        if (waiting.size() >= mostWaiting) {
          return null;
        }
        waiting.add(turn);
        return turn;
      }
      count(worker);
    }
    dial.run();
    return turn;
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

  /** Returns the number of connections that wait for their turn. */
  synchronized int waiting() {
    return waiting.size();
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
    for (Iterator<Turn> first = waiting.iterator(); first.hasNext(); ) {
      var one = first.next();
      if (hasRoom(one.worker)) {
        first.remove();
        count(one.worker);
        return one.dial;
      }
    }
    return null;
  }
}
