package io.dynamo.frontend.catalog;

import java.util.List;
import java.util.Optional;

/** The models that live workers serve now. Safe for concurrent use; never blocks. */
public interface ModelCatalog {
  /** Those with at least one live worker, each once, by name. */
  List<ServedModel> models();

  /** The model of that name or alias, when a worker lives that serves it. */
  Optional<ServedModel> find(String name);

  /** Whether a card of that name is known, although no worker may be ready. */
  boolean isKnown(String name);

  /** How far the model of that name or alias is, when a card of it is there. */
  Optional<Readiness> readiness(String name);
}
