package io.dynamo.frontend.preprocess;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds the ids that end a text: those of {@code generation_config.json}, else of {@code
 * config.json} or its {@code text_config}, else of {@code special_tokens_map.json}; the tokenizer's
 * own in any case.
 */
final class EosTokens {
  static final String GENERATION_CONFIG = "generation_config.json";
  static final String CONFIG = "config.json";
  static final String SPECIAL_TOKENS_MAP = "special_tokens_map.json";

  private EosTokens() {}

  /**
   * @param files parsed files by name
   */
  static int[] of(Map<String, Map<?, ?>> files, Map<?, ?> tokenizerConfig, Map<?, ?> tokenizer) {
    Set<Integer> ids = new LinkedHashSet<>();
    add(ids, files.getOrDefault(GENERATION_CONFIG, Map.of()).get("eos_token_id"));
    var config = files.getOrDefault(CONFIG, Map.of());
    if (ids.isEmpty()) {
      add(ids, config.get("eos_token_id"));
    }
    if (ids.isEmpty() && config.get("text_config") instanceof Map<?, ?> text) {
      add(ids, text.get("eos_token_id"));
    }
    addContent(ids, tokenizerConfig.get("eos_token"), tokenizer);
    if (ids.isEmpty()) {
      addContent(ids, files.getOrDefault(SPECIAL_TOKENS_MAP, Map.of()).get("eos_token"), tokenizer);
    }
    return ids.stream().mapToInt(Integer::intValue).toArray();
  }

  /** The text of a token given as a string or as an added token's object. */
  static @Nullable String content(@Nullable Object token) {
    return token instanceof Map<?, ?> map
        ? content(map.get("content"))
        : token instanceof String text ? text : null;
  }

  private static void add(Set<Integer> ids, @Nullable Object value) {
    if (value instanceof Integer id) {
      ids.add(id);
    } else if (value instanceof List<?> list) {
      list.forEach(item -> add(ids, item));
    }
  }

  private static void addContent(Set<Integer> ids, @Nullable Object token, Map<?, ?> tokenizer) {
    var text = content(token);
    if (text == null) {
      return;
    }
    if (tokenizer.get("added_tokens") instanceof List<?> added) {
      for (var entry : added) {
        if (entry instanceof Map<?, ?> map && text.equals(map.get("content"))) {
          add(ids, map.get("id"));
          return;
        }
      }
    }
    if (tokenizer.get("model") instanceof Map<?, ?> model
        && model.get("vocab") instanceof Map<?, ?> vocab) {
      add(ids, vocab.get(text));
    }
  }
}
