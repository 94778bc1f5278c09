package io.dynamo.worker.serve;

import io.dynamo.inference.EngineOutput;
import org.jspecify.annotations.Nullable;

/**
 * Checks the items of an engine before they are sent. Immutable.
 *
 * @param vocabulary valid token ids are below this
 */
record ItemRules(int vocabulary) {
  /** Describes the fault of {@code item}; null when it has none. */
  @Nullable String brokenBy(EngineOutput item) {
    for (int id : item.tokenIds()) {
      if (id < 0 || id >= vocabulary) {
        return "token id %s is not in the model's vocabulary of %d"
            .formatted(Integer.toUnsignedString(id), vocabulary);
      }
    }
    var logprobs = item.logprobs();
    if (logprobs != null) {
      var cumulative = logprobs.cumulative();
      if ((cumulative != null && cumulative.isNaN()) || anyIsNaN(logprobs.tokens())) {
        return "a log probability is no number";
      }
    }
    return null;
  }

  private static boolean anyIsNaN(double @Nullable [] values) {
    if (values != null) {
      for (double value : values) {
        if (Double.isNaN(value)) {
          return true;
        }
      }
    }
    return false;
  }
}
