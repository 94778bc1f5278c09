package io.dynamo.frontend.preprocess.jinja;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Names and their values; assignments stay in the innermost scope. */
final class Scope {
  private final @Nullable Scope outer;
  private final Map<String, Object> values = new HashMap<>();

  Scope(@Nullable Scope outer) {
    this.outer = outer;
  }

  void set(String name, Object value) {
    values.put(name, value);
  }

  Object get(String name) {
    for (Scope scope = this; scope != null; scope = scope.outer) {
      var value = scope.values.get(name);
      if (value != null) {
        return value;
      }
    }
    return new Undefined("'" + name + "' is undefined");
  }
}
