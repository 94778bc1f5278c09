package io.dynamo.frontend.catalog;

import io.dynamo.model.ModelCard;
import io.dynamo.model.ModelTypes;
import java.util.List;
import java.util.SortedMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Which models this frontend can serve, by what their cards say. */
final class ServableCards {
  private static final String TOKENS = "Tokens";

  private ServableCards() {}

  /** Why the model of {@code card} is not shown; null where it is. */
  static @Nullable String problem(ModelCard card) {
    if (!card.modelInput().equals(TOKENS)) {
      return "its workers take model_input %s, and this frontend sends token ids only"
          .formatted(card.modelInput());
    }
    if (card.blockTokens() < 1) {
      return "kv_cache_block_size is %d; it must be at least 1".formatted(card.blockTokens());
    }
    var unknown = ModelTypes.unknown(card.modelTypes());
    if (!unknown.isEmpty()) {
      return "model_type holds %s, which Dynamo 1.6.1 does not know".formatted(unknown);
    }
    if (card.modelTypes().isEmpty()) {
      return "model_type is empty: its workers answer no clients";
    }
    return null;
  }

  /**
   * Puts each model under its aliases, too. A model's own name goes before the aliases of others,
   * and of those that claim one alias the first by name.
   */
  static <M> void addAliases(SortedMap<String, M> byName, Function<M, ModelCard> card) {
    for (var model : List.copyOf(byName.values())) {
      for (var alias : card.apply(model).aliases()) {
        byName.putIfAbsent(alias, model);
      }
    }
  }
}
