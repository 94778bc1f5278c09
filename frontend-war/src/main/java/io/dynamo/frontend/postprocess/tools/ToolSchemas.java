package io.dynamo.frontend.postprocess.tools;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * The JSON types of the parameters of a request's tools, by which values written as plain text are
 * converted. Immutable.
 */
public final class ToolSchemas {
  /** Without tools. */
  public static final ToolSchemas NONE = new ToolSchemas(Map.of(), Set.of());

  private static final int MAX_ALTERNATIVES_DEPTH = 8;

  private final Map<String, Map<String, Set<String>>> types;

  private final Set<String> names; // of all tools, those without types too

  private ToolSchemas(Map<String, Map<String, Set<String>>> types, Set<String> names) {
    this.types = types;
    this.names = names;
  }

  /**
   * Reads the {@code tools} of a chat request with values as JSON has them; parameters without
   * types are omitted.
   */
  public static ToolSchemas of(List<Map<String, Object>> tools) {
    var types = new HashMap<String, Map<String, Set<String>>>();
    var names = new HashSet<String>();
    for (var tool : tools) {
      if (tool.get("function") instanceof Map<?, ?> named
          && named.get("name") instanceof String name) {
        names.add(name);
      }
      if (tool.get("function") instanceof Map<?, ?> function
          && function.get("name") instanceof String name
          && function.get("parameters") instanceof Map<?, ?> parameters
          && parameters.get("properties") instanceof Map<?, ?> properties) {
        var ofTool = new HashMap<String, Set<String>>();
        properties.forEach(
            (key, schema) -> {
              var found = new HashSet<String>();
              collect(schema, found, 0);
              ofTool.put(String.valueOf(key), found);
            });
        types.put(name, ofTool);
      }
    }
    return new ToolSchemas(types, names);
  }

  private static void collect(Object schema, Set<String> found, int depth) {
    if (!(schema instanceof Map<?, ?> map) || depth > MAX_ALTERNATIVES_DEPTH) {
      return;
    }
    var type = map.get("type");
    if (type instanceof String one) {
      found.add(one);
    } else if (type instanceof List<?> many) {
      many.forEach(it -> found.add(String.valueOf(it)));
    } else if (map.get("enum") instanceof List<?> values) {
      values.forEach(it -> found.add(it instanceof String ? "string" : "any"));
    }
    for (var key : List.of("anyOf", "oneOf", "allOf")) {
      if (map.get(key) instanceof List<?> alternatives) {
        alternatives.forEach(it -> collect(it, found, depth + 1));
      }
    }
  }

  /** The tool that is meant where a model puts a namespace of its own before the name. */
  String toolName(String called) {
    var last = called.substring(called.lastIndexOf('.') + 1);
    return !names.contains(called) && names.contains(last) ? last : called;
  }

  /**
   * Whether the schema types that parameter as a string, so that a number's spelling is text too.
   */
  boolean isText(String tool, String parameter, boolean untypedIsText) {
    var found = typesOf(tool, parameter);
    return found.isEmpty() ? untypedIsText : found.equals(Set.of("string"));
  }

  /**
   * The JSON that {@code text} stands for as a value of that parameter; text if it does not fit.
   */
  String json(String tool, String parameter, String text, boolean untypedIsText) {
    if (isText(tool, parameter, untypedIsText)) {
      return JsonFragments.quoted(text);
    }
    var found = typesOf(tool, parameter);
    var value = JsonFragments.value(text, true);
    if (value == null) {
      value = JsonFragments.value(text.strip().toLowerCase(Locale.ROOT), true); // TRUE, Null
      value = value != null && Character.isLetter(value.charAt(0)) ? value : null;
    }
    return value != null && (found.isEmpty() || fits(value, found))
        ? value
        : JsonFragments.quoted(text);
  }

  private static boolean fits(String value, Set<String> types) {
    if (types.contains("any")) {
      return true;
    }
    return switch (value.charAt(0)) {
      case '{' -> types.contains("object");
      case '[' -> types.contains("array");
      case '"' -> types.contains("string");
      case 't', 'f' -> types.contains("boolean");
      case 'n' -> types.contains("null");
      default ->
          types.contains("number") || (types.contains("integer") && value.matches("-?[0-9]+"));
    };
  }

  private Set<String> typesOf(String tool, String parameter) {
    return types.getOrDefault(toolName(tool), Map.of()).getOrDefault(parameter, Set.of());
  }
}
