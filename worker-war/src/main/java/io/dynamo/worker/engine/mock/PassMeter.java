package io.dynamo.worker.engine.mock;

import io.dynamo.kv.ForwardPass;
import io.dynamo.kv.ForwardPass.Work;
import io.dynamo.worker.engine.Variance;

/** Counts what one pass works on. For the rank's thread. */
final class PassMeter {
  private static final double NANOS_PER_SECOND = 1e9;

  private final Variance prompts = new Variance();
  private final Variance contexts = new Variance();
  private final Variance queuedPrompts = new Variance();
  private long prefillTokens;
  private long cachedTokens;
  private long firstAdmitted;
  private long lastEnd;
  private boolean any;

  /** Begins a pass in which {@code waiting} have no place. */
  void begin(Iterable<Generation> waiting) {
    prompts.clear();
    contexts.clear();
    queuedPrompts.clear();
    prefillTokens = 0;
    cachedTokens = 0;
    any = false;
    for (var generation : waiting) {
      queuedPrompts.add(generation.promptTokens);
    }
  }

  /** Counts {@code generation} in, before it makes its token. */
  void add(Generation generation) {
    if (!any || generation.admittedNanos() - firstAdmitted < 0) {
      firstAdmitted = generation.admittedNanos();
    }
    any = true;
    if (generation.isPrefilling()) {
      prompts.add(generation.promptTokens);
      prefillTokens += generation.uncachedTokens();
      cachedTokens += generation.cachedTokens();
    } else {
      contexts.add(generation.contextTokens());
    }
  }

  /**
   * The pass that ends now. It began when the one before had ended or, if the rank was idle then,
   * with the first request that it works on.
   */
  ForwardPass end(long now) {
    long began = firstAdmitted - lastEnd > 0 ? firstAdmitted : lastEnd;
    lastEnd = now;
    return new ForwardPass(
        (now - began) / NANOS_PER_SECOND,
        new Work(
            prompts.count(),
            prefillTokens,
            prompts.value(),
            cachedTokens,
            contexts.count(),
            contexts.sum(),
            contexts.value()),
        new Work(queuedPrompts.count(), queuedPrompts.sum(), queuedPrompts.value(), 0, 0, 0, 0));
  }

  /** Starts the clock: no pass began before {@code now}. */
  void startAt(long now) {
    lastEnd = now;
  }
}
