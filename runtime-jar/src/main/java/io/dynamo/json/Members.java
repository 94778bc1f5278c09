package io.dynamo.json;

import java.util.AbstractMap;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The members of an object, in the order of the text. Immutable, so that views need no copy. */
final class Members extends AbstractMap<String, @Nullable Object> {
  private final Map<String, @Nullable Object> map;

  private Members(Map<String, @Nullable Object> map) {
    this.map = Collections.unmodifiableMap(map);
  }

  /** Wraps {@code map}, which nobody else changes any more. */
  static Members owned(Map<String, @Nullable Object> map) {
    return new Members(map);
  }

  /** Returns {@code map} itself where it is immutable, else a copy. */
  static Members of(Map<String, @Nullable Object> map) {
    return map instanceof Members same ? same : new Members(new LinkedHashMap<>(map));
  }

  @Override
  public @Nullable Object get(@Nullable Object name) {
    return map.get(name);
  }

  @Override
  public boolean containsKey(@Nullable Object name) {
    return map.containsKey(name);
  }

  @Override
  public Set<Map.Entry<String, @Nullable Object>> entrySet() {
    return map.entrySet();
  }
}
