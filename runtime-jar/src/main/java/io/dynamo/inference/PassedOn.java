package io.dynamo.inference;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Fields of a message that are forwarded without being read. The codec lists the names it keeps, so
 * a peer cannot add others; their size is bounded by the frame they came in.
 *
 * @param fields values by wire name, as in JSON, never null at the top
 */
public record PassedOn(Map<String, Object> fields) {
  public static final PassedOn NONE = new PassedOn(Map.of());

  public PassedOn {
    fields = Collections.unmodifiableMap(new LinkedHashMap<>(fields)); // preserves the order
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
