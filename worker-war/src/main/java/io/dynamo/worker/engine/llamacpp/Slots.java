package io.dynamo.worker.engine.llamacpp;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * Which generations have a slot of the server, and which wait for one, first come first served.
 * Safe for concurrent use.
 */
final class Slots {
  private final int count;
  private final List<LlamaCppGeneration> running =
      new ArrayList<>(); // guarded by this, like what follows
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

  /** Takes {@code generation} out, wherever it is; the next one in the queue gets its slot. */
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

  /** Those with a slot. */
  synchronized List<LlamaCppGeneration> running() {
    return List.copyOf(running);
  }

  synchronized int waiting() {
    return waiting.size();
  }

  /** All of them. */
  synchronized List<LlamaCppGeneration> all() {
    var all = new ArrayList<>(running);
    all.addAll(waiting);
    return all;
  }
}
