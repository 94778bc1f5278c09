package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Checks JSON schemas marked {@code strict}: their objects must allow no further properties. */
final class StrictSchemas {
  private static final int MAX_DEPTH = 64;

  private StrictSchemas() {}

  /**
   * The JSON pointer, after {@code #}, to an object schema that is not closed; null when all are.
   * It is built only once such a schema was found: schemas have long keys and many places.
   */
  static @Nullable String openContext(JsonNode schema) {
    var open = open(schema, 0);
    return open == null ? null : "#" + open;
  }

  /** The path from {@code schema} to an open schema, empty for itself. */
  private static @Nullable String open(JsonNode schema, int depth) {
    if (!schema.isObject() || depth > MAX_DEPTH) {
      return null;
    }
    var additional = schema.path("additionalProperties");
    boolean closed = additional.isBoolean() && !additional.booleanValue();
    boolean object = schema.path("type").asText().equals("object") || schema.has("properties");
    if (object && !closed) {
      return "";
    }
    for (var property : schema.path("properties").properties()) {
      var open = open(property.getValue(), depth + 1);
      if (open != null) {
        return "/properties/" + property.getKey() + open;
      }
    }
    for (var name : List.of("anyOf", "oneOf", "allOf")) {
      for (int i = 0; i < schema.path(name).size(); i++) {
        var open = open(schema.path(name).path(i), depth + 1);
        if (open != null) {
          return "/" + name + "/" + i + open;
        }
      }
    }
    var open = open(schema.path("items"), depth + 1);
    return open == null ? null : "/items" + open;
  }
}
