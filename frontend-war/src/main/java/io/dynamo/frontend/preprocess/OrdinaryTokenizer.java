package io.dynamo.frontend.preprocess;

import io.dynamo.json.Json;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A {@code tokenizer.json} without its added tokens, by which every text is ordinary: it keeps all
 * other ids.
 *
 * <p>Most models have their added tokens in the vocabulary, too, where a whole word that reads like
 * one would find it. There they get names with a NUL character, which no text has.
 */
final class OrdinaryTokenizer {
  private static final String UNKNOWN = "unk_token";

  private OrdinaryTokenizer() {}

  /**
   * @param tokenizer the parsed file
   */
  static String json(Map<?, ?> tokenizer) {
    var changed = copy(tokenizer);
    changed.put("added_tokens", List.of());
    if (tokenizer.get("model") instanceof Map<?, ?> model) {
      changed.put("model", model(model, hidden(tokenizer.get("added_tokens"), model)));
    }
    return new String(Json.write(changed), StandardCharsets.UTF_8);
  }

  /** The added tokens, less those of text that merges make: that is ordinary text already. */
  private static Set<String> hidden(@Nullable Object added, Map<?, ?> model) {
    var hidden = new HashSet<String>();
    var text = new HashSet<String>();
    for (var entry : added instanceof List<?> list ? list : List.of()) {
      if (entry instanceof Map<?, ?> token && token.get("content") instanceof String content) {
        (SafeCuts.is(token, "special") ? hidden : text).add(content);
      }
    }
    for (var merge : model.get("merges") instanceof List<?> list ? list : List.of()) {
      text.remove(
          merge instanceof List<?> pair && pair.size() == 2
              ? String.valueOf(pair.get(0)) + pair.get(1)
              : String.valueOf(merge).replaceFirst(" ", ""));
    }
    hidden.addAll(text);
    return hidden;
  }

  private static Map<String, @Nullable Object> model(Map<?, ?> model, Set<String> hidden) {
    var changed = copy(model);
    switch (model.get("vocab")) {
      case Map<?, ?> ids -> {
        var vocabulary = new LinkedHashMap<String, @Nullable Object>();
        for (var entry : ids.entrySet()) {
          vocabulary.put(name(entry.getKey(), hidden), entry.getValue());
        }
        changed.put("vocab", vocabulary);
      }
      case List<?> scores -> {
        var vocabulary = new ArrayList<Object>();
        for (var entry : scores) {
          vocabulary.add(
              entry instanceof List<?> scored && scored.size() == 2
                  ? List.of(name(scored.get(0), hidden), scored.get(1))
                  : entry);
        }
        changed.put("vocab", vocabulary);
      }
      case null, default -> {}
    }
    if (model.get(UNKNOWN) instanceof String unknown) {
      changed.put(UNKNOWN, name(unknown, hidden));
    }
    return changed;
  }

  private static String name(Object token, Set<String> hidden) {
    var name = String.valueOf(token);
    return hidden.contains(name) ? '\0' + name : name;
  }

  private static Map<String, @Nullable Object> copy(Map<?, ?> map) {
    var copy = new LinkedHashMap<String, @Nullable Object>();
    map.forEach((key, value) -> copy.put(String.valueOf(key), value));
    return copy;
  }
}
