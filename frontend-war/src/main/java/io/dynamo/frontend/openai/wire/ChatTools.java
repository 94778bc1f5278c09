package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.databind.JsonNode;
import io.dynamo.frontend.postprocess.tools.ToolChoice;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The checked tools of a request; the chat template gets them unchanged.
 *
 * @param tools none when the model must not call
 */
record ChatTools(List<Map<String, Object>> tools, ToolChoice choice) {
  private static final int MAX_TOOLS = 1536;
  private static final int MAX_NAME_BYTES = 128;
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_-]+");

  /**
   * Reads {@code tools} and {@code tool_choice}.
   *
   * @param faults gets the faults of their values
   */
  static ChatTools read(JsonFields request, List<String> faults) {
    var tools = request.get("tools");
    var choice = request.get("tool_choice");
    var read = new ArrayList<Map<String, Object>>();
    var names = new ArrayList<String>();
    if (tools != null) {
      if (!tools.isArray()) {
        throw JsonFields.wrong("tools", tools, "a sequence");
      }
      if (tools.isEmpty()) {
        faults.add("tools array cannot be empty; omit the field entirely to disable tool use");
      }
      if (tools.size() > MAX_TOOLS) {
        faults.add("Maximum of " + MAX_TOOLS + " tools are supported, got " + tools.size());
      }
      for (int i = 0; i < tools.size(); i++) {
        var tool = JsonFields.of(tools.get(i), "tools[" + i + "]");
        if (!tool.requireString("type").equals("function")) {
          throw JsonBody.invalidBody(
              tool.path("type")
                  + ": unknown variant `"
                  + JsonFields.clipped(tool.requireString("type"))
                  + "`, expected `function`");
        }
        var function = JsonFields.of(tool.require("function"), tool.path("function"));
        names.add(function.requireString("name"));
        checkName(names.getLast(), i, faults);
        var parameters = function.get("parameters");
        if (parameters != null && !parameters.isObject()) {
          faults.add(
              "Function parameters at index %d for \"%s\" must be a JSON Schema object"
                  .formatted(i, JsonFields.clipped(names.getLast())));
        }
        if (function.bool("strict") && parameters != null && parameters.isObject()) {
          var context = StrictSchemas.openContext(parameters);
          if (context != null) {
            faults.add(
                ("Invalid schema for function '%s': In context=%s, object schemas require"
                        + " additionalProperties: false")
                    .formatted(JsonFields.clipped(names.getLast()), JsonFields.clipped(context)));
          }
        }
        read.add(JsonFields.plainMap(tool.object()));
      }
    }
    return choose(choice, read, names, faults);
  }

  private static void checkName(String name, int index, List<String> faults) {
    int bytes = name.getBytes(StandardCharsets.UTF_8).length;
    if (name.isEmpty()) {
      faults.add("Function name at index " + index + " cannot be empty");
    } else if (bytes > MAX_NAME_BYTES) {
      faults.add(
          "Function name at index %d exceeds %d character limit, got %d characters"
              .formatted(index, MAX_NAME_BYTES, bytes));
    } else if (!NAME.matcher(name).matches()) {
      faults.add(
          ("Function at index %d has an invalid name: \"%s\". Only a-z, A-Z, 0-9, underscores, and"
                  + " dashes are allowed.")
              .formatted(index, name));
    }
  }

  private static ChatTools choose(
      @Nullable JsonNode choice,
      List<Map<String, Object>> tools,
      List<String> names,
      List<String> faults) {
    if (choice == null) {
      return new ChatTools(tools, new ToolChoice.Auto());
    }
    if (choice.isObject()) {
      var named = JsonFields.of(choice, "tool_choice");
      var name =
          JsonFields.of(named.require("function"), named.path("function")).requireString("name");
      if (!names.contains(name)) {
        faults.add(
            "tool named \""
                + JsonFields.clipped(name)
                + "\" in tool_choice is not present in tools");
      }
      return new ChatTools(tools, new ToolChoice.Named(name));
    }
    return switch (choice.isTextual() ? choice.textValue() : "") {
      case "auto" -> new ChatTools(tools, new ToolChoice.Auto());
      case "none" -> new ChatTools(tools, new ToolChoice.None());
      case "required" -> {
        if (tools.isEmpty()) {
          faults.add("tool_choice is \"required\" but tools is empty");
        }
        yield new ChatTools(tools, new ToolChoice.Required());
      }
      default -> throw JsonFields.wrong("tool_choice", choice, "`none`, `auto` or `required`");
    };
  }

  /**
   * The JSON schema of an answer that must be a call; null when none must.
   *
   * @param single whether it must be one call
   */
  @Nullable Object forcedForm(boolean single) {
    return switch (choice) {
      case ToolChoice.None _, ToolChoice.Auto _ -> null;
      case ToolChoice.Named(var function) ->
          tools.stream()
              .map(ChatTools::function)
              .filter(it -> function.equals(it.get("name")))
              .findFirst()
              .map(ChatTools::parameters)
              .orElse(null);
      case ToolChoice.Required _ -> {
        var calls = new ArrayList<Object>();
        for (var tool : tools) {
          var function = function(tool);
          var properties = new LinkedHashMap<String, Object>();
          properties.put("name", ordered("type", "string", "enum", List.of(function.get("name"))));
          properties.put("parameters", parameters(function));
          calls.add(ordered("properties", properties, "required", List.of("name", "parameters")));
        }
        var items = ordered("type", "object", "anyOf", calls);
        var form = new LinkedHashMap<String, Object>();
        form.put("type", "array");
        form.put("minItems", 1);
        form.put("items", items);
        if (single) {
          form.put("maxItems", 1);
        }
        yield form;
      }
    };
  }

  private static Map<?, ?> function(Map<String, Object> tool) {
    return tool.get("function") instanceof Map<?, ?> function ? function : Map.of();
  }

  private static Object parameters(Map<?, ?> function) {
    return function.get("parameters") instanceof Map<?, ?> schema
        ? schema
        : ordered("type", "object", "properties", Map.of());
  }

  private static Map<String, Object> ordered(String a, Object first, String b, Object second) {
    var map = new LinkedHashMap<String, Object>();
    map.put(a, first);
    map.put(b, second);
    return map;
  }
}
