package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What {@code strict} asks of a JSON schema: objects that allow no further properties. */
final class StrictSchemas {
  private static final int MAX_DEPTH = 64;

  private StrictSchemas() {}

  /** Where an object schema is not closed, as a JSON pointer after {@code #}; null when all are. */
  static @Nullable String openContext(JsonNode schema) {
    return openContext(schema, "#", 0);
  }

  private static @Nullable String openContext(JsonNode schema, String context, int depth) {
    if (!schema.isObject() || depth > MAX_DEPTH) {
      return null;
    }
    var additional = schema.path("additionalProperties");
    boolean closed = additional.isBoolean() && !additional.booleanValue();
    boolean object = schema.path("type").asText().equals("object") || schema.has("properties");
    if (object && !closed) {
      return context;
    }
    for (var property : schema.path("properties").properties()) {
      var open =
          openContext(property.getValue(), context + "/properties/" + property.getKey(), depth + 1);
      if (open != null) {
        return open;
      }
    }
    for (var name : List.of("anyOf", "oneOf", "allOf")) {
      for (int i = 0; i < schema.path(name).size(); i++) {
        var open = openContext(schema.path(name).get(i), context + "/" + name + "/" + i, depth + 1);
        if (open != null) {
          return open;
        }
      }
    }
    return openContext(schema.path("items"), context + "/items", depth + 1);
  }
}
