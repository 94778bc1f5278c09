package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The tools of a request, checked; they go to the chat template as they came. */
final class ChatTools {
  private static final int MAX_TOOLS = 1536;
  private static final int MAX_NAME_BYTES = 128;
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_-]+");

  private ChatTools() {}

  /**
   * Reads {@code tools} and {@code tool_choice}. With the choice {@code none} the template gets no
   * tools.
   *
   * @param faults gets what is wrong with their values
   */
  static List<Map<String, Object>> read(Fields request, List<String> faults) {
    var tools = request.get("tools");
    var choice = request.get("tool_choice");
    var read = new ArrayList<Map<String, Object>>();
    var names = new ArrayList<String>();
    if (tools != null) {
      if (!tools.isArray()) {
        throw Fields.wrong("tools", tools, "a sequence");
      }
      if (tools.isEmpty()) {
        faults.add("tools array cannot be empty; omit the field entirely to disable tool use");
      }
      if (tools.size() > MAX_TOOLS) {
        faults.add("Maximum of " + MAX_TOOLS + " tools are supported, got " + tools.size());
      }
      for (int i = 0; i < tools.size(); i++) {
        var tool = Fields.of(tools.get(i), "tools[" + i + "]");
        if (!tool.requireString("type").equals("function")) {
          throw JsonBody.shape(
              tool.path("type")
                  + ": unknown variant `"
                  + tool.requireString("type")
                  + "`, expected `function`");
        }
        var function = Fields.of(tool.require("function"), tool.path("function"));
        names.add(function.requireString("name"));
        checkName(names.getLast(), i, faults);
        var parameters = function.get("parameters");
        if (parameters != null && !parameters.isObject()) {
          faults.add(
              "Function parameters at index %d for \"%s\" must be a JSON Schema object"
                  .formatted(i, names.getLast()));
        }
        read.add(Fields.plainMap(tool.object()));
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

  private static List<Map<String, Object>> choose(
      @Nullable JsonNode choice,
      List<Map<String, Object>> tools,
      List<String> names,
      List<String> faults) {
    if (choice == null) {
      return tools;
    }
    if (choice.isObject()) {
      var named = Fields.of(choice, "tool_choice");
      var name = Fields.of(named.require("function"), named.path("function")).requireString("name");
      faults.add(
          names.contains(name)
              ? "a named tool_choice is not supported; use \"auto\" or \"none\""
              : "tool named \"" + name + "\" in tool_choice is not present in tools");
      return tools;
    }
    return switch (choice.isTextual() ? choice.textValue() : "") {
      case "auto" -> tools;
      case "none" -> List.of();
      case "required" -> {
        faults.add(
            tools.isEmpty()
                ? "tool_choice is \"required\" but tools is empty"
                : "tool_choice \"required\" is not supported; use \"auto\" or \"none\"");
        yield tools;
      }
      default -> throw Fields.wrong("tool_choice", choice, "`none`, `auto` or `required`");
    };
  }
}
