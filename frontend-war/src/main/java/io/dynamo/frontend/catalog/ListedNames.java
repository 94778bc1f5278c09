package io.dynamo.frontend.catalog;

import java.util.LinkedHashMap;
import java.util.SequencedMap;

/** The names that clients may use now. */
public final class ListedNames {
  private ListedNames() {}

  /**
   * Returns the models of {@code catalog} by name, each followed by those of its aliases that lead
   * to it.
   */
  public static SequencedMap<String, ServedModel> of(ModelCatalog catalog) {
    var names = new LinkedHashMap<String, ServedModel>();
    for (var model : catalog.models()) {
      names.put(model.name(), model);
      for (var set : catalog.sets(model.name())) {
        for (var alias : set.card().aliases()) {
          catalog
              .find(alias)
              .filter(found -> found.name().equals(model.name())) // not another model's name
              .ifPresent(found -> names.put(alias, found));
        }
      }
    }
    return names;
  }
}
