package io.dynamo.frontend.catalog;

import io.dynamo.discovery.ModelRecord;
import io.dynamo.discovery.WorkerSet;
import java.util.Map;
import java.util.Set;

/** Reports conflicting claims of new cards. */
final class CardConflicts {
  private static final System.Logger LOG = System.getLogger(CardConflicts.class.getName());

  private CardConflicts() {}

  /**
   * Logs the claims of {@code record} that another card already has.
   *
   * @param others the sets of its model so far
   * @param entries the models by name and alias so far
   */
  static void report(ModelRecord record, Set<WorkerSet> others, Map<String, ModelEntry> entries) {
    var name = record.card().displayName();
    var workers = WorkerSet.of(record);
    if (!others.contains(workers) && others.stream().anyMatch(workers::competesWith)) {
      LOG.log(
          System.Logger.Level.WARNING,
          "model {0}: the card of {1} differs from the one that is served there; it waits until the"
              + " other workers are gone",
          name,
          record.key());
    }
    for (var alias : record.card().aliases()) {
      var owner = entries.get(alias);
      if (owner != null && !owner.name().equals(name)) {
        LOG.log(
            System.Logger.Level.WARNING,
            "model {0}: its alias {1} stays with model {2} until that is gone",
            name,
            alias,
            owner.name());
      }
    }
  }
}
