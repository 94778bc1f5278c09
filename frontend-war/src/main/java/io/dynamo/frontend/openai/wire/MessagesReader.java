package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Reads requests of Anthropic's Messages API: puts them into chat's form and has that read, so that
 * every bound of chat holds. What only this API has is checked here, under its own names; keys that
 * are not known are ignored, as Dynamo does.
 */
public final class MessagesReader {
  private static final List<String> AS_IN_CHAT =
      List.of("model", "max_tokens", "temperature", "top_p", "top_k", "stream");
  private static final String PREFIX = "Validation: ";
  private static final Set<String> OWN =
      Set.of(
          "messages",
          "system",
          "stop_sequences",
          "tools",
          "tool_choice",
          "thinking",
          "output_config",
          "nvext");

  private MessagesReader() {}

  /** The top-level fields that are read. */
  public static Set<String> names() {
    var names = new TreeSet<>(OWN);
    names.addAll(AS_IN_CHAT);
    return names;
  }

  /**
   * Reads and checks.
   *
   * @param generates whether a message is asked for, which needs {@code max_tokens}
   * @throws ApiException with 400
   */
  public static ChatRequest read(JsonNode body, boolean generates) {
    var fields = JsonFields.of(body, "");
    var chat = JsonText.MAPPER.createObjectNode();
    for (var name : AS_IN_CHAT) {
      var value = fields.get(name);
      if (value != null) {
        chat.set(name, value);
      }
    }
    if (generates) {
      fields.require("max_tokens");
    } else {
      chat.remove(List.of("max_tokens", "stream"));
    }
    var budget = fields.whole("max_tokens", 0, 0xFFFF_FFFFL);
    if (budget != null && budget == 0) {
      throw refuse("max_tokens", "max_tokens: must be greater than 0");
    }
    var stops = fields.strings("stop_sequences");
    if (!stops.isEmpty()) {
      var list = chat.putArray("stop");
      stops.forEach(list::add);
    }
    MessagesInput.addTo(chat, fields);
    tools(fields, chat);
    choice(fields, chat);
    thinking(fields, chat);
    try {
      return ChatRequestReader.read(chat);
    } catch (ApiException e) {
      throw renamed(e.error());
    }
  }

  /** The refusal of a value by chat's reader, under this API's names. */
  private static ApiException renamed(ApiError error) {
    var message = error.message();
    return new ApiException(
        new ApiError(
            error.status(),
            message.startsWith(PREFIX) ? message.substring(PREFIX.length()) : message,
            error.code(),
            "stop".equals(error.param()) ? "stop_sequences" : error.param(),
            error.retryAfterSeconds(),
            error.limit()));
  }

  /**
   * Enables thinking when the request does not specify it, and keeps former thoughts in the prompt.
   */
  public static ChatRequest withThinking(ChatRequest request) {
    Map<String, Object> args = new LinkedHashMap<>(request.templateArgs());
    if (!Boolean.FALSE.equals(args.get("enable_thinking"))) {
      args.putIfAbsent("enable_thinking", true);
      args.putIfAbsent("thinking", true);
      args.putIfAbsent("truncate_history_thinking", false);
    }
    return new ChatRequest(
        request.fields(),
        request.messages(),
        request.tools(),
        request.toolChoice(),
        request.parallelCalls(),
        args,
        request.addGenerationPrompt(),
        request.continueFinal(),
        request.media(),
        request.parts(),
        request.responseFormat());
  }

  private static ApiException refuse(String param, String message) {
    return GenerationReader.refusePlainly(param, message);
  }

  private static void tools(JsonFields fields, ObjectNode chat) {
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
      var type = tool.string("type");
      if (type != null && !type.equals("custom")) {
        throw refuse(
            "tools",
            "tools[%d]: server tool type \"%s\" is not supported"
                .formatted(i, JsonFields.clipped(type)));
      }
      var schema = tool.get("input_schema");
      if (schema == null) {
        throw refuse(
            "tools", "tools[%d].input_schema: field required for client tools".formatted(i));
      }
      var function =
          list.addObject()
              .put("type", "function")
              .putObject("function")
              .put("name", tool.requireString("name"));
      var description = tool.string("description");
      if (description != null) {
        function.put("description", description);
      }
      function.set("parameters", schema);
    }
    if (!list.isEmpty()) {
      chat.set("tools", list);
    }
  }

  private static void choice(JsonFields fields, ObjectNode chat) {
    var node = fields.get("tool_choice");
    if (node == null) {
      return;
    }
    var choice = JsonFields.of(node, "tool_choice");
    var type = choice.requireString("type");
    switch (type) {
      case "auto", "none" -> chat.put("tool_choice", type);
      case "any" -> chat.put("tool_choice", "required");
      case "tool" ->
          chat.putObject("tool_choice")
              .put("type", "function")
              .putObject("function")
              .put("name", choice.requireString("name"));
      default ->
          throw JsonBody.invalidBody(
              "tool_choice.type: unknown variant `%s`, expected one of `auto`, `any`, `tool`, `none`"
                  .formatted(JsonFields.clipped(type)));
    }
    if (choice.bool("disable_parallel_tool_use")) {
      chat.put("parallel_tool_calls", false);
    }
  }

  /** The controls of thinking and of the answer's form. */
  private static void thinking(JsonFields fields, ObjectNode chat) {
    var nvext = fields.get("nvext");
    if (nvext instanceof ObjectNode given) {
      var own = given.deepCopy();
      own.remove(
          List.of("annotations", "extra_fields")); // this API's answers have no place for them
      chat.set("nvext", own);
    } else if (nvext != null) {
      chat.set("nvext", nvext);
    }
    var node = fields.get("thinking");
    boolean thinks = true;
    if (node != null) {
      var thinking = JsonFields.of(node, "thinking");
      var type = thinking.requireString("type");
      thinks = !type.equals("disabled");
      chat.putObject("thinking").put("type", type);
      var budget = thinking.whole("budget_tokens", 1, Integer.MAX_VALUE);
      if (budget != null && thinks) {
        var extension = chat.get("nvext") instanceof ObjectNode own ? own : chat.putObject("nvext");
        if (!extension.has("max_thinking_tokens")) {
          extension.put("max_thinking_tokens", budget);
        }
      }
    }
    var output = fields.get("output_config");
    if (output == null) {
      return;
    }
    var config = JsonFields.of(output, "output_config");
    var effort = config.string("effort");
    if (effort != null && thinks) {
      chat.put("reasoning_effort", effort);
    }
    var form = config.get("format");
    if (form != null) {
      var format = JsonFields.of(form, config.path("format"));
      chat.putObject("response_format")
          .put("type", format.requireString("type"))
          .putObject("json_schema")
          .put("name", "output")
          .set("schema", format.require("schema"));
    }
  }
}
