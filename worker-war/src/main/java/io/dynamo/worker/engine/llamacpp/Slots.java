package io.dynamo.worker.engine.llamacpp;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * The generations that have a slot of the server, and the queue of those that wait for one, first
 * come first served. Safe for concurrent use.
 */
final class Slots {
  private final int count;
  private final List<LlamaCppGeneration> running =
      new ArrayList<>(); // guarded by this, as is the next
  private final ArrayDeque<LlamaCppGeneration> waiting = new ArrayDeque<>();

  Slots(int count) {
    this.count = count;
  }

  /**
   * Gives {@code generation} a slot now or later and then calls its {@link
   * LlamaCppGeneration#admit}.
   */
  synchronized void enter(LlamaCppGeneration generation) {
    if (running.size() < count) {
      running.add(generation);
      generation.admit();
    } else {
      waiting.add(generation);
    }
  }

  /**
   * Removes {@code generation} from the slots or the queue; the next in the queue gets its slot.
   */
  synchronized void leave(LlamaCppGeneration generation) {
    if (waiting.remove(generation) || !running.remove(generation)) {
      return;
    }
    var next = waiting.poll();
    if (next != null) {
      running.add(next);
      next.admit();
    }
  }

  /** Returns the generations that have a slot. */
  synchronized List<LlamaCppGeneration> running() {
    return List.copyOf(running);
  }

  synchronized int waiting() {
    return waiting.size();
  }

  /** Returns all generations, running and waiting. */
  synchronized List<LlamaCppGeneration> all() {
    var all = new ArrayList<>(running);
    all.addAll(waiting);
    return all;
  }
}
