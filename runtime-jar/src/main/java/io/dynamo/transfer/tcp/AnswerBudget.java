package io.dynamo.transfer.tcp;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Queue;

/**
 * Bounds the bytes of answers to readers that all connections of a listener hold at once. A
 * connection without room waits; those that wait get it in their order. Safe for concurrent use.
 */
final class AnswerBudget {
  private record Waiting(int bytes, Runnable granted) {}

  private final Queue<Waiting> line = new ArrayDeque<>(); // guarded by this
  private long free; // guarded by this

  AnswerBudget(long mostBytes) {
    this.free = mostBytes;
  }

  /**
   * Takes bytes, which {@link #release} gives back. Returns false when they are not free: {@code
   * granted} runs once they are taken, on the thread that has made room.
   */
  synchronized boolean take(int bytes, Runnable granted) {
    if (line.isEmpty() && bytes <= free) {
      free -= bytes;
      return true;
    }
    line.add(new Waiting(bytes, granted));
    return false;
  }

  void release(int bytes) {
    var granted = new ArrayList<Runnable>(1);
    synchronized (this) {
      free += bytes;
      while (true) {
        var first = line.peek();
        if (first == null || first.bytes > free) {
          break;
        }
        line.remove();
        free -= first.bytes;
        granted.add(first.granted);
      }
    }
    granted.forEach(Runnable::run);
  }
}
