package io.dynamo.worker.engine.llama;

import io.dynamo.kv.ForwardPass.Work;
import io.dynamo.worker.engine.Variance;

/** Measures the work of a pass and the generations that wait meanwhile. For the rank's thread. */
final class LlamaPassMeter {
  private final Variance prompts = new Variance();
  private final Variance contexts = new Variance();

  /** Returns the work of {@code parts}; called before the pass. */
  Work scheduled(Iterable<PassPlan.Part> parts) {
    prompts.clear();
    contexts.clear();
    long computed = 0;
    long held = 0;
    for (var part : parts) {
      var generation = part.generation();
      if (generation.generated() == 0) {
        prompts.add(generation.promptTokens);
        computed += part.count();
        held += generation.computed();
      } else {
        contexts.add(generation.length());
      }
    }
    return new Work(
        prompts.count(),
        computed,
        prompts.value(),
        held,
        contexts.count(),
        contexts.sum(),
        contexts.value());
  }

  /**
   * Measures the generations that wait for a place; a decode waits there after it was preempted.
   */
  Work queued(Iterable<LlamaGeneration> waiting) {
    prompts.clear();
    contexts.clear();
    for (var generation : waiting) {
      if (generation.generated() == 0) {
        prompts.add(generation.promptTokens);
      } else {
        contexts.add(generation.length());
      }
    }
    return new Work(
        prompts.count(),
        prompts.sum(),
        prompts.value(),
        0,
        contexts.count(),
        contexts.sum(),
        contexts.value());
  }
}
