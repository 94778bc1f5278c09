package io.dynamo.frontend.catalog;

import io.dynamo.discovery.InstanceId;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The models that live workers serve now. Safe for concurrent use; never blocks. */
public interface ModelCatalog {
  /**
   * The conditions that a request sets on the workers that serve it.
   *
   * @param modelType the flag of its API, {@code Chat} for example
   * @param worker the only one that may serve it; null for any
   * @param session whose requests stay with one set of workers as long as the sets stay; null for
   *     none
   */
  record Query(String modelType, @Nullable InstanceId worker, @Nullable String session) {}

  /** Those that are ready, each once, by name. */
  List<ServedModel> models();

  /** The model of that name or alias, when it is ready; of several sets the first that came. */
  Optional<ServedModel> find(String name);

  /** Every set of workers that can be asked for that name or alias now, in order of arrival. */
  List<ServedModel> sets(String name);

  /**
   * The set of workers for one request: drawn at random among {@link #sets} that fit, each by the
   * number of its live workers.
   *
   * @return empty when none fits
   */
  Optional<ServedModel> choose(String name, Query query);

  /**
   * The other sets of the model that can carry on generations of {@code lost}, because they have
   * the same tokenizer; those to be tried first come first.
   */
  List<ServedModel> successors(ServedModel lost);

  /** Whether a card of that name is known, although no worker may be ready. */
  boolean isKnown(String name);

  /** How far the model of that name or alias is, when a card of it is there. */
  Optional<Readiness> readiness(String name);
}
