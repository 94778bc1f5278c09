package io.dynamo.worker.engine.llama;

import io.dynamo.worker.engine.llama.LlamaForwardPass.Segment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decides what one pass computes: first the running generations, in order of arrival, each with its
 * next token or as much of its prompt as fits; then the waiting ones. Used by the rank's thread
 * only.
 *
 * <p>When blocks run out, the generation that arrived last releases its blocks and waits again, at
 * the front; so the first always makes progress.
 */
final class PassPlan {
  /** One generation's part in the pass. */
  record Part(LlamaGeneration generation, int count) {}

  private final LlamaEngineConfig config;
  private final BlockPool pool;
  private final List<Part> parts = new ArrayList<>();
  private final List<Segment> segments = new ArrayList<>();
  private @Nullable LlamaGeneration refused; // the head of the queue, when it found no room
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

  /** Returns how many generations have been preempted since the start. */
  long preemptions() {
    return preemptions;
  }

  /** Returns the prompt tokens of all generations admitted since the start. */
  long promptTokens() {
    return promptTokens;
  }

  /** Returns how many of those prompt tokens were found in the cache. */
  long cachedTokens() {
    return cachedTokens;
  }

  /** Returns the most rows that a pass can have: every running sequence may have its one token. */
  static int maxRows(LlamaEngineConfig config) {
    return Math.max(config.passTokens(), config.maxRunning());
  }

  /** Plans the next pass; moves generations between the two lists. */
  void make(List<LlamaGeneration> running, ArrayDeque<LlamaGeneration> waiting) {
    parts.clear();
    segments.clear();
    int room = config.passTokens() - decoding(running); // rows left for prompts
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
        return; // no block was released since
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
      if (head.stream.hasRoom()) { // a preempted one may still have all its items unread
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
