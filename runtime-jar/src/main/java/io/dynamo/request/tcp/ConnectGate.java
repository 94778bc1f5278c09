package io.dynamo.request.tcp;

import java.util.ArrayDeque;

/**
 * Bounds the connections that are being established at once; the others wait in the order of their
 * arrival. Safe for concurrent use.
 */
final class ConnectGate {
  private final int most;
  private final ArrayDeque<Runnable> waiting = new ArrayDeque<>(); // guarded by this
  private int inside; // guarded by this

  ConnectGate(int most) {
    this.most = most;
  }

  /** Runs {@code dial}, now or when another has left; whoever dials leaves once. */
  void enter(Runnable dial) {
    synchronized (this) {
      if (inside == most) {
        waiting.add(dial);
        return;
      }
      inside++;
    }
    dial.run();
  }

  /** Called once for each dial, when it has succeeded or failed. */
  void leave() {
    Runnable next;
    synchronized (this) {
      next = waiting.poll();
      if (next == null) {
        inside--;
      }
    }
    if (next != null) {
      next.run();
    }
  }
}
