package io.dynamo.frontend.catalog;

import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.WorkerSet;
import io.dynamo.model.ModelCard;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One set of workers of a model, as their cards describe it. Immutable.
 *
 * @param card the card of the first worker
 * @param isLegacy whether any card has no worker type
 * @param ids the workers that have a card; they need not be live
 * @param rendezvous of prefill workers, where decode workers meet them; by worker
 * @param served null while its files are being loaded, and for workers that answer no clients
 */
record CatalogEntry(
    WorkerSet workers,
    ModelCard card,
    boolean isLegacy,
    Set<InstanceId> ids,
    Map<InstanceId, PrefillSet.Rendezvous> rendezvous,
    @Nullable ServedModel served) {
  CatalogEntry {
    ids = Set.copyOf(ids);
    rendezvous = Map.copyOf(rendezvous);
  }

  String namespace() {
    return workers.endpoint().namespace();
  }

  boolean answersClients() {
    return ServableCards.answersClients(card);
  }
}
