package io.dynamo.frontend.catalog;

import java.util.List;
import java.util.Optional;

/**
 * The other sets of workers that take part in the generations of one set. Safe for concurrent use.
 */
@FunctionalInterface
public interface CompanionSets {
  /**
   * Returns the other sets of the model that can continue generations of {@code lost}, because they
   * have the same tokenizer, in the order in which they are to be tried.
   */
  List<ServedModel> successors(ServedModel lost);

  /**
   * Returns the live prefill workers that compute prompts for the decode workers of {@code
   * decoder}: those of the same model and namespace.
   *
   * @return empty when there are none, and for workers that do both
   */
  default Optional<PrefillSet> prefill(ServedModel decoder) {
    return Optional.empty();
  }
}
