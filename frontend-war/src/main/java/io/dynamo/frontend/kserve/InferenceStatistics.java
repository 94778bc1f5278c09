package io.dynamo.frontend.kserve;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/**
 * Counts the requests of KServe's protocol by model, since this frontend started. Safe for
 * concurrent use; never blocks.
 */
public final class InferenceStatistics {
  private static final int MAX_MODELS = 4096;
  private static final long BETWEEN_SWEEPS_MILLIS = 10_000;

  private final LongSupplier millis;
  private final Predicate<String> known;
  private final AtomicLong nextSweepMillis = new AtomicLong(Long.MIN_VALUE);
  private final ConcurrentMap<String, Counts> byModel = new ConcurrentHashMap<>();

  /**
   * The requests of one model.
   *
   * @param lastMillis UNIX time of the last success's end; 0 for none
   */
  public record Counts(
      long successes, long successNanos, long failures, long failureNanos, long lastMillis) {
    static final Counts NONE = new Counts(0, 0, 0, 0, 0);

    private Counts with(boolean success, long nanos, long now) {
      return success
          ? new Counts(successes + 1, successNanos + nanos, failures, failureNanos, now)
          : new Counts(successes, successNanos, failures + 1, failureNanos + nanos, lastMillis);
    }
  }

  /**
   * @param millis UNIX time
   * @param known whether a model is served; the counts of others give way to those of new models
   */
  InferenceStatistics(LongSupplier millis, Predicate<String> known) {
    this.millis = millis;
    this.known = known;
  }

  /** Adds a request to a model that is served. */
  void record(String model, boolean success, long nanos) {
    if (byModel.size() >= MAX_MODELS && !byModel.containsKey(model)) {
      forgetUnknown();
    }
    if (byModel.size() < MAX_MODELS || byModel.containsKey(model)) {
      byModel.merge(
          model,
          Counts.NONE.with(success, nanos, millis.getAsLong()),
          (before, _) -> before.with(success, nanos, millis.getAsLong()));
    }
  }

  /** Removes models that left. Rarely, as all models are looked at, and all may be served. */
  private void forgetUnknown() {
    long now = millis.getAsLong();
    long next = nextSweepMillis.get();
    if (now >= next && nextSweepMillis.compareAndSet(next, now + BETWEEN_SWEEPS_MILLIS)) {
      byModel.keySet().removeIf(Predicate.not(known));
    }
  }

  /** The requests of a model so far. */
  Counts of(String model) {
    return byModel.getOrDefault(model, Counts.NONE);
  }
}
