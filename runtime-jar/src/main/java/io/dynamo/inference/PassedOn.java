package io.dynamo.inference;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Fields of a message that are handed on unread. The codec names those it keeps, so a peer cannot
 * add to them; their size is bounded by the frame they came in.
 *
 * @param fields by their names on the wire; values as JSON has them, never null at the top
 */
public record PassedOn(Map<String, Object> fields) {
  public static final PassedOn NONE = new PassedOn(Map.of());

  public PassedOn {
    fields = Collections.unmodifiableMap(new LinkedHashMap<>(fields)); // keeps the order
  }

  public static PassedOn of(Map<String, Object> fields) {
    return fields.isEmpty() ? NONE : new PassedOn(fields);
  }

  public boolean isEmpty() {
    return fields.isEmpty();
  }

  public @Nullable Object get(String name) {
    return fields.get(name);
  }
}
