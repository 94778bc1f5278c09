package io.dynamo.frontend.console;

import io.dynamo.discovery.ModelRecord;
import io.dynamo.frontend.catalog.ModelCatalog;
import io.dynamo.frontend.catalog.Readiness;
import io.dynamo.model.ModelCard;
import io.dynamo.router.QueueDepths;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Describes the models that workers have cards of, ready or not. Safe for concurrent use. */
final class ModelFigures {
  /** The number of models with figures of their own; further ones are counted only. */
  static final int MOST_MODELS = 64;

  private final ModelCatalog catalog;
  private final QueueDepths queues;

  ModelFigures(ModelCatalog catalog, QueueDepths queues) {
    this.catalog = catalog;
    this.queues = queues;
  }

  /** Returns the newest card of each model, by name. */
  static SequencedMap<String, ModelCard> cards(List<WorkerRoster.Member> workers) {
    var cards = new TreeMap<String, ModelCard>();
    for (var worker : workers) {
      for (var record : worker.records()) {
        cards.merge(
            record.card().displayName(),
            record.card(),
            (one, other) -> other.generates() ? other : one);
      }
    }
    return cards;
  }

  /** Returns the description of one model, without its traffic. */
  Map<String, @Nullable Object> describe(ModelCard card, List<WorkerRoster.Member> workers) {
    var name = card.displayName();
    var json = new LinkedHashMap<String, @Nullable Object>();
    json.put("name", name);
    json.put("aliases", card.aliases());
    json.put("adapter", card.lora() != null);
    json.put("apis", apis(name, workers));
    json.put("context_length", card.contextLength() == 0 ? null : card.contextLength());
    json.put("block_tokens", card.blockTokens() == 0 ? null : card.blockTokens());
    json.put("workers", workers(name, workers));
    var readiness = catalog.readiness(name);
    json.put("ready", readiness.map(Readiness::ready).orElse(false));
    json.put("why", readiness.map(ModelFigures::reason).orElse("no worker can be asked"));
    int waiting = 0;
    for (var set : catalog.sets(name)) {
      waiting += queues.queued(set.workers());
    }
    json.put("router_queue", waiting);
    return json;
  }

  /** Returns the flags of all cards of a model, of which workers may have several. */
  private static List<String> apis(String model, List<WorkerRoster.Member> workers) {
    return workers.stream()
        .flatMap(worker -> worker.records().stream())
        .map(ModelRecord::card)
        .filter(card -> card.displayName().equals(model))
        .flatMap(card -> card.modelTypes().stream())
        .sorted()
        .distinct()
        .toList();
  }

  private static long workers(String model, List<WorkerRoster.Member> workers) {
    return workers.stream().filter(worker -> serves(worker.records(), model)).count();
  }

  private static boolean serves(List<ModelRecord> records, String model) {
    return records.stream().anyMatch(record -> record.card().displayName().equals(model));
  }

  /** Returns why the model is not ready; empty when it is. */
  private static String reason(Readiness readiness) {
    var reasons = new ArrayList<String>();
    if (!readiness.ready()) {
      for (var namespace : readiness.namespaces()) {
        var reason = namespace.reason();
        if (reason != null) {
          reasons.add(namespace.name() + ": " + reason);
        }
      }
    }
    return String.join("; ", reasons);
  }
}
