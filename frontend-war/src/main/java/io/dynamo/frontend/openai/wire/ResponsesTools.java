package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dynamo.frontend.ApiException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Puts the tools of a Responses request, and the choice among them, into chat's form. */
final class ResponsesTools {
  private ResponsesTools() {}

  /**
   * Sets the tools of {@code chat} that may be called, and their choice.
   *
   * @param fields of the request
   */
  static void addTo(ObjectNode chat, JsonFields fields) {
    list(fields, chat, choice(fields, chat));
  }

  /**
   * Reads the choice of tools.
   *
   * @return the names of the tools that may be called; null for all
   */
  private static @Nullable Set<String> choice(JsonFields fields, ObjectNode chat) {
    var node = fields.get("tool_choice");
    if (node == null) {
      return null;
    }
    if (!node.isObject()) {
      chat.set("tool_choice", node);
      return null;
    }
    var choice = JsonFields.of(node, "tool_choice");
    var type = choice.requireString("type");
    return switch (type) {
      case "function" -> {
        chat.putObject("tool_choice")
            .put("type", "function")
            .putObject("function")
            .put("name", choice.requireString("name"));
        yield null;
      }
      case "allowed_tools" -> {
        chat.put("tool_choice", choice.requireString("mode"));
        var names = new HashSet<String>();
        var tools = choice.require("tools");
        if (!tools.isArray()) {
          throw JsonFields.wrong("tool_choice.tools", tools, "a sequence");
        }
        for (int i = 0; i < tools.size(); i++) {
          var tool = JsonFields.of(tools.get(i), "tool_choice.tools[" + i + "]");
          checkFunction(tool);
          names.add(tool.requireString("name"));
        }
        yield names;
      }
      default -> throw unsupportedTool(choice.path("type"), type);
    };
  }

  private static void checkFunction(JsonFields tool) {
    var type = tool.requireString("type");
    if (!type.equals("function")) {
      throw unsupportedTool(tool.path("type"), type);
    }
  }

  private static ApiException unsupportedTool(String path, String type) {
    return GenerationReader.refuse(
        "tools",
        "%s: tools of type \"%s\" are not supported; send functions"
            .formatted(path, JsonFields.clipped(type)));
  }

  private static void list(JsonFields fields, ObjectNode chat, @Nullable Set<String> allowed) {
    var tools = fields.get("tools");
    if (tools == null) {
      return;
    }
    if (!tools.isArray()) {
      throw JsonFields.wrong("tools", tools, "a sequence");
    }
    var list = JsonText.MAPPER.createArrayNode();
    for (int i = 0; i < tools.size(); i++) {
      var tool = JsonFields.of(tools.get(i), "tools[" + i + "]");
      checkFunction(tool);
      var name = tool.requireString("name");
      if (allowed != null && !allowed.contains(name)) {
        continue;
      }
      var function = list.addObject().put("type", "function").putObject("function");
      function.put("name", name);
      for (var field : List.of("description", "parameters", "strict")) {
        var value = tool.get(field);
        if (value != null) {
          function.set(field, value);
        }
      }
    }
    if (!list.isEmpty()) {
      chat.set("tools", list);
    }
  }
}
