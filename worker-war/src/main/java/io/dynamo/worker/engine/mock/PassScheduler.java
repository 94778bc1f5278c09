package io.dynamo.worker.engine.mock;

import io.dynamo.worker.engine.mock.Scheduling.Victim;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;

/**
 * Schedules one rank's passes as vLLM's scheduler does: first every running sequence in the order
 * of admission, then the waiting ones, first come first served, as long as the pass has tokens
 * left. When blocks run out, a running sequence releases its own and waits at the front; no
 * sequence is admitted in that pass. Used by the rank's thread only.
 */
final class PassScheduler {
  private static final double NANOS_PER_MILLI = 1e6;

  private enum Outcome {
    DONE,
    BLOCKED,
    PREEMPTED
  }

  private final Scheduling how;
  private final int maxRunning;
  private final int blockTokens;
  private final PagedKvCache cache;
  private final BiConsumer<Sequence, RuntimeException> onFailure;
  final ArrayDeque<Sequence> waiting = new ArrayDeque<>();
  final ArrayList<Sequence> running = new ArrayList<>(); // in the order of admission
  private final List<Sequence> scheduled = new ArrayList<>();
  private int budget;
  private boolean preempted;
  private long preemptions;
  private long promptTokens;
  private long cachedTokens;

  /**
   * @param onFailure receives a sequence that cannot be admitted and has been removed from all
   *     queues
   */
  PassScheduler(
      Scheduling how,
      int maxRunning,
      int blockTokens,
      PagedKvCache cache,
      BiConsumer<Sequence, RuntimeException> onFailure) {
    this.how = how;
    this.maxRunning = maxRunning;
    this.blockTokens = blockTokens;
    this.cache = cache;
    this.onFailure = onFailure;
  }

  /** Returns the sequences that the pass works on. */
  List<Sequence> scheduled() {
    return scheduled;
  }

  /** Returns how many sequences have been preempted since the start. */
  long preemptions() {
    return preemptions;
  }

  /** Returns the prompt tokens of all sequences admitted since the start. */
  long promptTokens() {
    return promptTokens;
  }

  /** Returns how many of those prompt tokens were found in the cache. */
  long cachedTokens() {
    return cachedTokens;
  }

  /**
   * Plans a pass.
   *
   * @return whether there is anything to do
   */
  boolean plan() {
    budget = how.passTokens();
    preempted = false;
    scheduled.clear();
    scheduleRunning();
    admit();
    return !scheduled.isEmpty();
  }

  private void scheduleRunning() {
    int next = 0;
    while (next < running.size() && budget > 0) {
      var sequence = running.get(next);
      if (!sequence.hasRoom()) {
        next++;
        continue;
      }
      switch (schedule(sequence)) {
        case BLOCKED -> {
          return;
        }
        case DONE -> next = running.indexOf(sequence) + 1;
        case PREEMPTED -> next = Math.min(next, indexAfterLoss(next));
      }
    }
  }

  /**
   * Returns the index at which scheduling continues when the sequence at {@code at} was preempted,
   * and perhaps sequences before it.
   */
  private int indexAfterLoss(int at) {
    return how.victim() == Victim.OLDEST ? 0 : at;
  }

  private void admit() {
    while (!preempted && budget > 0 && running.size() < maxRunning && !waiting.isEmpty()) {
      var head = waiting.getFirst();
      int active = head.blocks.findCached(head.tokens(), head.length());
      int needed = blocks(head.length()) - active;
      if (needed > cache.capacity() - cache.heldBlocks()) {
        return;
      }
      try {
        running.add(head);
        if (schedule(head) != Outcome.DONE) {
          running.remove(head);
          return;
        }
        waiting.removeFirst();
      } catch (RuntimeException failure) {
        running.remove(head);
        waiting.removeFirst();
        onFailure.accept(head, failure);
        continue;
      }
      head.admissions++;
    }
  }

  private int blocks(int tokens) {
    return (tokens + blockTokens - 1) / blockTokens;
  }

  private Outcome schedule(Sequence sequence) {
    boolean fresh = sequence.computed == 0;
    while (true) {
      int prefix = fresh ? sequence.blocks.cachedTokens(sequence.tokens(), sequence.length()) : 0;
      int base = sequence.computed + prefix;
      int remaining = sequence.length() - base;
      int promptBefore = Math.min(sequence.promptTokens, base);
      int promptLeft = sequence.promptTokens - promptBefore;
      if (promptLeft > budget && !how.chunkedPrefill()) {
        return Outcome.BLOCKED;
      }
      int want = Math.min(remaining, budget);
      if (want == 0 && remaining > 0) {
        return Outcome.BLOCKED;
      }
      if (!sequence.blocks.cover(fresh, base + want)) {
        var victim = how.victim() == Victim.NEWEST ? running.getLast() : running.getFirst();
        preempt(victim);
        if (victim.equals(sequence)) {
          return Outcome.PREEMPTED;
        }
        continue;
      }
      sequence.blocks.computed(sequence.tokens(), base + want);
      sequence.computed = base + want;
      sequence.passTokens = want;
      sequence.passBefore = promptBefore;
      sequence.passPrompt = Math.min(promptLeft, want);
      sequence.firstByPrefill = sequence.passPrompt > 0 && sequence.generated() == 0;
      budget -= want;
      scheduled.add(sequence);
      if (fresh) {
        countReuse(sequence, prefix);
      }
      return Outcome.DONE;
    }
  }

  private void countReuse(Sequence sequence, int prefix) {
    if (sequence.admissions == 0) {
      sequence.reused = Math.min(prefix, sequence.promptTokens);
      promptTokens += sequence.promptTokens;
      cachedTokens += sequence.reused;
    }
    sequence.mostReused = Math.max(sequence.mostReused, prefix);
  }

  private void preempt(Sequence victim) {
    running.remove(victim);
    victim.blocks.release();
    if (scheduled.remove(victim)) {
      budget += victim.passTokens;
    }
    victim.computed = 0;
    waiting.addFirst(victim);
    preempted = true;
    preemptions++;
  }

  /** Returns how long the pass takes, in nanoseconds. */
  long nanos() {
    int prefills = 0;
    long prompt = 0;
    long before = 0;
    boolean decodes = false;
    long context = 0;
    for (var sequence : scheduled) {
      if (sequence.passPrompt > 0) {
        prefills++;
        prompt += sequence.passBefore + sequence.passPrompt;
        before += sequence.passBefore;
      }
      if (sequence.isReady() && !sequence.firstByPrefill && !sequence.isFull()) {
        decodes = true;
        context += sequence.length();
      }
    }
    double prefill = prefills == 0 ? 0 : how.timing().prefillMillis(prefills, prompt, before);
    long capacity = (long) cache.capacity() * blockTokens;
    double decode = decodes ? how.timing().decodeMillis(context, capacity) : 0;
    return Math.round(prefill / how.speedup() * NANOS_PER_MILLI)
        + Math.round(decode / (how.speedup() * how.decodeSpeedup()) * NANOS_PER_MILLI);
  }

  /** Removes {@code sequence} from every list; the caller releases its blocks. */
  void remove(Sequence sequence) {
    if (!running.remove(sequence)) {
      waiting.remove(sequence);
    }
    scheduled.remove(sequence);
  }
}
