package io.dynamo.frontend.catalog;

import io.dynamo.discovery.EndpointId;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Adds to each adapter the prefill and encode workers of the model that it is loaded on. */
final class AdapterHelpers {
  private AdapterHelpers() {}

  /**
   * Adds to each adapter in {@code sets} those sets of its model that answer no clients: they help
   * with the adapter's requests as with the model's.
   */
  static void addTo(Map<String, List<CatalogEntry>> sets) {
    var models = new HashMap<EndpointId, List<CatalogEntry>>();
    for (var entries : sets.values()) {
      for (var entry : entries) {
        if (entry.card().lora() == null) {
          models.computeIfAbsent(entry.workers().endpoint(), _ -> new ArrayList<>()).add(entry);
        }
      }
    }
    for (var entries : sets.values()) {
      for (var entry : List.copyOf(entries)) {
        if (entry.card().lora() != null) {
          for (var model : models.getOrDefault(entry.workers().endpoint(), List.of())) {
            if (!Collections.disjoint(model.ids(), entry.ids())) {
              sets.getOrDefault(model.workers().model(), List.of()).stream()
                  .filter(helper -> isHelperOf(entry, helper) && !entries.contains(helper))
                  .forEach(entries::add);
            }
          }
        }
      }
    }
  }

  private static boolean isHelperOf(CatalogEntry adapter, CatalogEntry helper) {
    return !helper.answersClients()
        && helper.card().lora() == null
        && helper.namespace().equals(adapter.namespace());
  }
}
