package io.dynamo.router.queue;

import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Requests that wait for the same ranks, one line per class. The lines take turns by deficit round
 * robin: each earns its quantum per round and spends the tokens that its requests have to prefill.
 * Guarded by the lock of its queue.
 *
 * @see <a href="https://doi.org/10.1145/217391.217453">Shreedhar and Varghese, 1995</a>
 */
final class Lane {
  private static final class Line {
    final long quantum;
    final PriorityQueue<Waiter> waiting = new PriorityQueue<>(Waiter.ORDER);
    long earned; // tokens
    boolean blocked; // its first waiter has tried and found no room

    Line(long quantum) {
      this.quantum = quantum;
    }

    boolean mayTry() {
      return !blocked && !waiting.isEmpty();
    }

    /** Returns the number of rounds until the line can pay for {@code waiter}. */
    long roundsToGo(Waiter waiter) {
      return Math.ceilDiv(Math.max(0, waiter.cost() - earned), quantum);
    }
  }

  private final Line[] lines;
  private int next; // index of the line where the round continues
  private @Nullable Line current; // the line whose first waiter may try

  Lane(List<PolicyClass> classes) {
    this.lines = classes.stream().map(it -> new Line(it.quantum())).toArray(Line[]::new);
  }

  boolean isEmpty() {
    for (var line : lines) {
      if (!line.waiting.isEmpty()) {
        return false;
      }
    }
    return true;
  }

  boolean hasBacklog(int policyClass) {
    return !lines[policyClass].waiting.isEmpty();
  }

  void add(Waiter waiter) {
    lines[waiter.policyClass].waiting.add(waiter);
  }

  /**
   * Returns the waiter that may try now; the same one until it leaves, is blocked, or one of its
   * class overtakes it.
   */
  @Nullable Waiter turn() {
    if (current == null || !current.mayTry()) {
      current = lines.length == 1 ? (lines[0].mayTry() ? lines[0] : null) : pick();
    }
    return current == null ? null : current.waiting.peek();
  }

  /** Returns the line that can pay first; of several, the next one of the round. */
  private @Nullable Line pick() {
    long fewest = Long.MAX_VALUE;
    Line picked = null;
    for (int i = 0; i < lines.length; i++) {
      var line = lines[(next + i) % lines.length];
      if (line.mayTry()) {
        long rounds = line.roundsToGo(line.waiting.element());
        if (rounds < fewest) {
          fewest = rounds;
          picked = line;
        }
      }
    }
    return picked;
  }

  /**
   * Credits the rounds that the class of {@code waiter} needs to pay for it, and deducts its cost.
   */
  private void pay(Waiter waiter) {
    var payer = lines[waiter.policyClass];
    long rounds = payer.roundsToGo(waiter);
    for (var line : lines) {
      if (line == payer || line.mayTry()) {
        line.earned += rounds * line.quantum;
      }
    }
    payer.earned -= waiter.cost();
    next = (waiter.policyClass + 1) % lines.length;
  }

  /**
   * Records that the class of {@code waiter} found no room; others may try until {@link #unblock}.
   */
  void block(Waiter waiter) {
    lines[waiter.policyClass].blocked = true;
  }

  void unblock(Waiter waiter) {
    lines[waiter.policyClass].blocked = false;
  }

  void unblockAll() {
    for (var line : lines) {
      line.blocked = false;
    }
  }

  /** Wakes all waiters. */
  void wakeAll() {
    for (var line : lines) {
      line.waiting.forEach(waiter -> waiter.turn.signal());
    }
  }

  /**
   * Removes {@code waiter}.
   *
   * @param placed whether it has been placed; if so, its class pays for it
   * @return whether it was in this lane
   */
  boolean remove(Waiter waiter, boolean placed) {
    var line = lines[waiter.policyClass];
    if (!line.waiting.remove(waiter)) {
      return false;
    }
    line.blocked = false;
    if (placed) {
      pay(waiter);
    }
    if (line.waiting.isEmpty()) {
      line.earned = 0;
    }
    if (line.waiting.isEmpty() || line.roundsToGo(line.waiting.element()) > 0) {
      current = null;
    }
    return true;
  }
}
