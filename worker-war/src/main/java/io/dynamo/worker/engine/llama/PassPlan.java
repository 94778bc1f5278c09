package io.dynamo.worker.engine.llama;

import io.dynamo.worker.engine.llama.LlamaForwardPass.Segment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decides what one pass computes: first those that run, in the order of their coming, each next
 * token and as much of each prompt as fits; then those that wait. Used by the rank's thread only.
 *
 * <p>When blocks run out, the one that came last gives its blocks back and waits again, at the
 * front; so the first always gets on.
 */
final class PassPlan {
  /** A generation's part in the pass. */
  record Part(LlamaGeneration generation, int count) {}

  private final LlamaEngineConfig config;
  private final BlockPool pool;
  private final List<Part> parts = new ArrayList<>();
  private final List<Segment> segments = new ArrayList<>();
  private @Nullable LlamaGeneration refused; // the head of those that wait, when it found no room
  private int refusedAt; // blocks that were available then
  private long preemptions;
  private long promptTokens;
  private long cachedTokens;

  PassPlan(LlamaEngineConfig config, BlockPool pool) {
    this.config = config;
    this.pool = pool;
  }

  List<Part> parts() {
    return parts;
  }

  List<Segment> segments() {
    return segments;
  }

  /** Generations that had to give their blocks back, ever. */
  long preemptions() {
    return preemptions;
  }

  /** Prompt tokens of all that were admitted, ever. */
  long promptTokens() {
    return promptTokens;
  }

  /** Those of them that were found in the cache. */
  long cachedTokens() {
    return cachedTokens;
  }

  /** Rows that a pass can have: every running sequence may have its one token. */
  static int maxRows(LlamaEngineConfig config) {
    return Math.max(config.passTokens(), config.maxRunning());
  }

  /** Plans the next pass; moves generations between the two lists. */
  void make(List<LlamaGeneration> running, ArrayDeque<LlamaGeneration> waiting) {
    parts.clear();
    segments.clear();
    int room = config.passTokens() - decoding(running); // for prompts
    boolean ranOut = false;
    for (int i = 0; i < running.size(); i++) {
      var generation = running.get(i);
      int pending = generation.pending();
      int count = pending == 1 ? 1 : Math.min(pending, room);
      if (count < 1 || !generation.stream.hasRoom()) {
        continue;
      }
      while (!generation.table.cover(generation.computed() + count)) {
        ranOut = true;
        var last = running.removeLast();
        last.preempt();
        preemptions++;
        waiting.addFirst(last);
        if (last == generation) {
          break;
        }
      }
      if (i < running.size()) {
        add(generation, count);
        room -= pending == 1 ? 0 : count;
      }
    }
    if (!ranOut) {
      admit(running, waiting, room);
    }
  }

  private static int decoding(List<LlamaGeneration> running) {
    int count = 0;
    for (int i = 0; i < running.size(); i++) {
      count += running.get(i).pending() == 1 ? 1 : 0;
    }
    return count;
  }

  private void admit(List<LlamaGeneration> running, ArrayDeque<LlamaGeneration> waiting, int rows) {
    int room = rows;
    while (room > 0 && !waiting.isEmpty() && running.size() < config.maxRunning()) {
      var head = waiting.getFirst();
      boolean again = head.wasAdmitted();
      if (head == refused && pool.available() <= refusedAt) {
        return; // nothing was given back since
      }
      if (!head.claim()) {
        refused = head;
        refusedAt = pool.available();
        return;
      }
      refused = null;
      waiting.removeFirst();
      running.add(head);
      if (!again) {
        promptTokens += head.promptTokens;
        cachedTokens += head.cachedTokens();
      }
      if (head.stream.hasRoom()) { // one that gave way may still have all its items unread
        int count = Math.min(head.pending(), room);
        add(head, count);
        room -= count;
      }
    }
  }

  private void add(LlamaGeneration generation, int count) {
    parts.add(new Part(generation, count));
    int from = generation.computed();
    boolean last = from + count == generation.length();
    segments.add(new Segment(generation.table.blocks(), generation.tokens(), from, count, last));
  }
}
