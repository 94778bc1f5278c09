package io.dynamo.frontend.catalog;

import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.ModelRecord;
import io.dynamo.discovery.WorkerSet;
import io.dynamo.frontend.preprocess.ModelText;
import io.dynamo.model.ModelCard;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The cards of one set of workers, and the text side loaded for them. For one thread. */
final class CardGroup {
  final LinkedHashMap<String, ModelRecord> records =
      new LinkedHashMap<>(); // by key, in order of arrival
  final WorkerSet workers;
  final long createdAtSeconds;
  boolean loading;
  private int attempts;
  @Nullable TextFiles files; // the files of the text that it uses or waits for
  @Nullable ServedModel served; // set once the text is loaded

  CardGroup(WorkerSet workers, long createdAtSeconds) {
    this.workers = workers;
    this.createdAtSeconds = createdAtSeconds;
  }

  /** Serves as {@code card} describes from now on, with the text loaded from {@code from}. */
  void serve(ModelCard card, @Nullable TextFiles from, ModelText text) {
    files = from;
    served = new ServedModel(card, workers, text, createdAtSeconds);
  }

  /**
   * Returns the worker whose files the next load reads: each in turn, in case one is unreachable.
   */
  ModelRecord next() {
    var turn = List.copyOf(records.values());
    return turn.get(attempts++ % turn.size());
  }

  ModelCard card() {
    return records.firstEntry().getValue().card();
  }

  CatalogEntry entry() {
    boolean legacy = false;
    var ids = new HashSet<InstanceId>();
    var rendezvous = new HashMap<InstanceId, PrefillSet.Rendezvous>();
    for (var record : records.values()) {
      ids.add(record.id());
      legacy |= record.card().workerType() == null;
      var meeting =
          workers.workerType().equals(ModelCard.PREFILL)
              ? PrefillSet.Rendezvous.of(record.card())
              : null;
      if (meeting != null) {
        rendezvous.put(record.id(), meeting);
      }
    }
    return new CatalogEntry(workers, card(), legacy, ids, rendezvous, served);
  }
}
