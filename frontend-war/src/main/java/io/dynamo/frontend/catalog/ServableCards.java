package io.dynamo.frontend.catalog;

import io.dynamo.model.ModelCard;
import io.dynamo.model.ModelTypes;
import java.util.List;
import java.util.Map;
import java.util.SequencedCollection;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Decides which models this frontend can serve, by their cards. */
final class ServableCards {
  private static final String TOKENS = "Tokens";
  private static final String TENSORS = "TensorBased";
  private static final Set<String> TASKS =
      Set.of(
          "Chat",
          "Completions",
          "Rerank",
          "Classify",
          "Pooling",
          "Images",
          "Videos",
          "Audios",
          "Realtime");

  private ServableCards() {}

  /** Returns why the card cannot be used here; null when it can. */
  static @Nullable String problem(ModelCard card) {
    boolean takesTokens = card.modelInput().equals(TOKENS);
    if (!takesTokens && !card.takesBodies() && !card.takesTensors()) {
      return "its workers take model_input %s, and this frontend sends token ids, bodies and tensors"
          .formatted(card.modelInput());
    }
    if (card.takesBodies() && !TASKS.containsAll(card.modelTypes())) {
      return "its workers take whole bodies for model_type %s; this frontend sends them for %s only"
          .formatted(sorted(card.modelTypes()), sorted(TASKS));
    }
    if (card.takesTensors() && !card.modelTypes().equals(Set.of(TENSORS))) {
      return "its workers take tensors for model_type %s; this frontend sends them for %s only"
          .formatted(sorted(card.modelTypes()), TENSORS);
    }
    var unknown = ModelTypes.unknown(card.modelTypes());
    if (!unknown.isEmpty()) {
      return "model_type holds %s, which Dynamo 1.6.1 does not know".formatted(unknown);
    }
    if (!answersClients(card)) {
      return card.workerType() == null && card.modelTypes().isEmpty()
          ? "model_type is empty: its workers answer no clients"
          : null;
    }
    if (card.blockTokens() < 1 && takesTokens) {
      return "kv_cache_block_size is %d; it must be at least 1".formatted(card.blockTokens());
    }
    return null;
  }

  private static List<String> sorted(Set<String> types) {
    return types.stream().sorted().toList();
  }

  /**
   * Whether requests of clients may go to the card's workers. Others, such as prefill workers, only
   * help them.
   */
  static boolean answersClients(ModelCard card) {
    return !card.modelTypes().isEmpty()
        && switch (card.effectiveWorkerType()) {
          case ModelCard.AGGREGATED, ModelCard.DECODE -> true;
          default -> false;
        };
  }

  /**
   * Adds each model under its aliases. A model's own name takes precedence over the aliases of
   * others, and an alias stays with the first model that claimed it.
   */
  static <M> void addAliases(
      Map<String, M> byName, Function<M, SequencedCollection<String>> aliases) {
    for (var model : List.copyOf(byName.values())) {
      for (var alias : aliases.apply(model)) {
        byName.putIfAbsent(alias, model);
      }
    }
  }
}
