package io.dynamo.worker.engine.mock;

import io.dynamo.kv.ForwardPass.Work;
import io.dynamo.worker.engine.Variance;

/** Measures the work of one pass, and the sequences that wait. For the rank's thread. */
final class MockPassMeter {
  private final Variance prompts = new Variance();
  private final Variance contexts = new Variance();

  /** Returns the work of {@code sequences}, once their pass is planned. */
  Work scheduled(Iterable<Sequence> sequences) {
    clear();
    long computed = 0;
    long before = 0;
    for (var sequence : sequences) {
      if (sequence.generated() == 0) {
        prompts.add(sequence.promptTokens);
        computed += sequence.passPrompt;
        before += sequence.passBefore;
      } else {
        contexts.add(sequence.length());
      }
    }
    return work(computed, before);
  }

  /** Measures the sequences that wait for a place; a decode waits there after it was preempted. */
  Work queued(Iterable<Sequence> waiting) {
    clear();
    for (var sequence : waiting) {
      if (sequence.generated() == 0) {
        prompts.add(sequence.promptTokens);
      } else {
        contexts.add(sequence.length());
      }
    }
    return work(prompts.sum(), 0);
  }

  private void clear() {
    prompts.clear();
    contexts.clear();
  }

  private Work work(long computed, long before) {
    return new Work(
        prompts.count(),
        computed,
        prompts.value(),
        before,
        contexts.count(),
        contexts.sum(),
        contexts.value());
  }
}
