package io.dynamo.frontend.catalog;

import io.dynamo.discovery.InstanceId;
import io.dynamo.model.ModelCard;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The models that live workers serve now. Safe for concurrent use; never blocks. */
public interface ModelCatalog extends CompanionSets {
  /**
   * The conditions of a request on the workers that serve it.
   *
   * @param modelTypes the flags of its API, {@code Chat} for example, of which one suffices; empty
   *     for any
   * @param worker the only one that may serve it; null for any
   * @param session a session whose requests stay with one set of workers as long as the sets do not
   *     change; null for none
   */
  record Query(Set<String> modelTypes, @Nullable InstanceId worker, @Nullable String session) {
    /** Whether models of {@code card} may serve the request. */
    public boolean takes(ModelCard card) {
      return isAnyOf(modelTypes, card);
    }

    /** Whether {@code card} has one of the flags, or there are none. */
    public static boolean isAnyOf(Set<String> modelTypes, ModelCard card) {
      return modelTypes.isEmpty() || !Collections.disjoint(modelTypes, card.modelTypes());
    }
  }

  /** Returns the ready models, each once, by name. */
  List<ServedModel> models();

  /**
   * Returns the model of that name or alias, if it is ready; of several sets the first that came.
   */
  Optional<ServedModel> find(String name);

  /**
   * Returns every set of workers that takes requests for that name or alias now, in order of
   * arrival.
   */
  List<ServedModel> sets(String name);

  /**
   * Chooses the set of workers for one request: drawn at random among the matching {@link #sets},
   * each weighted by the number of its live workers.
   *
   * @return empty when none matches
   */
  Optional<ServedModel> choose(String name, Query query);

  /** Whether a card of that name is known, although no worker may be ready. */
  boolean isKnown(String name);

  /** Returns the readiness of the model of that name or alias, if it has a card. */
  Optional<Readiness> readiness(String name);

  /**
   * Returns the names and aliases of models that have cards and are not ready, in order, each with
   * the flags of its cards.
   */
  SequencedMap<String, Set<String>> waiting();
}
