package io.dynamo.frontend.openai.wire;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Fields of an answer that come in parts: texts and lists are joined, of other values the last one
 * stays. For one thread.
 */
final class JoinedFields {
  private record GrownText(StringBuilder characters) {}

  private final Map<String, Object> fields = new LinkedHashMap<>();

  /** Adds a part; null adds nothing. */
  void add(Object key, @Nullable Object part) {
    var name = String.valueOf(key);
    switch (part) {
      case null -> {}
      case String text -> {
        if (!(fields.get(name) instanceof GrownText)) {
          fields.put(name, new GrownText(new StringBuilder()));
        }
        if (fields.get(name) instanceof GrownText grown) {
          grown.characters().append(text);
        }
      }
      case List<?> more -> {
        var list = new ArrayList<@Nullable Object>();
        if (fields.get(name) instanceof ArrayList<?> grown) {
          @SuppressWarnings("unchecked") // created below
          var own = (ArrayList<@Nullable Object>) grown;
          list = own;
        }
        list.addAll(more);
        fields.put(name, list);
      }
      default -> fields.put(name, part);
    }
  }

  boolean isEmpty() {
    return fields.isEmpty();
  }

  Map<String, @Nullable Object> fields() {
    var all = new LinkedHashMap<String, @Nullable Object>();
    fields.forEach(
        (name, value) ->
            all.put(
                name, value instanceof GrownText grown ? grown.characters().toString() : value));
    return all;
  }
}
