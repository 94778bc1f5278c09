package io.dynamo.frontend.kserve;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.LongSupplier;

/**
 * Counts the requests of KServe's protocol by model, since this frontend started. Safe for
 * concurrent use; never blocks.
 */
public final class InferenceStatistics {
  /** The models that are counted; more would be names that nobody serves any more. */
  private static final int MAX_MODELS = 4096;

  private final LongSupplier millis;
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
   */
  InferenceStatistics(LongSupplier millis) {
    this.millis = millis;
  }

  /** Adds a request to a model that is served. */
  void record(String model, boolean success, long nanos) {
    if (byModel.size() < MAX_MODELS || byModel.containsKey(model)) {
      byModel.merge(
          model,
          Counts.NONE.with(success, nanos, millis.getAsLong()),
          (known, _) -> known.with(success, nanos, millis.getAsLong()));
    }
  }

  /** The requests of a model so far. */
  Counts of(String model) {
    return byModel.getOrDefault(model, Counts.NONE);
  }
}
