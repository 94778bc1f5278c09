package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Reads requests of Anthropic's Messages API: puts them into chat's form and has that read, so that
 * every bound of chat holds. What only this API has is checked here, under its own names; keys that
 * are not known are ignored, as Dynamo does.
 */
public final class MessagesReader {
  private static final List<String> AS_IN_CHAT =
      List.of("model", "max_tokens", "temperature", "top_p", "top_k", "stream");
  private static final String BILLING = "x-anthropic-billing-header:";
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
    conversation(fields, chat);
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
   * Switches thinking on where the request does not say, and keeps former thoughts in the prompt.
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
        request.media());
  }

  private static ApiException refuse(String param, String message) {
    return GenerationReader.refusePlainly(param, message);
  }

  private static void conversation(JsonFields fields, ObjectNode chat) {
    var messages = chat.putArray("messages");
    var system = fields.get("system");
    if (system != null) {
      var text = withoutBilling(text(system, "system"));
      if (!text.isEmpty()) {
        messages.addObject().put("role", "system").put("content", text);
      }
    }
    var given = fields.require("messages");
    if (!given.isArray()) {
      throw JsonFields.wrong("messages", given, "a sequence");
    }
    if (given.isEmpty()) {
      throw refuse("messages", "messages: field required");
    }
    for (int i = 0; i < given.size(); i++) {
      var message = JsonFields.of(given.get(i), "messages[" + i + "]");
      var role = message.requireString("role");
      switch (role) {
        case "user" -> user(message, messages);
        case "assistant" -> assistant(message, messages);
        case "system" ->
            messages
                .addObject()
                .put("role", "system")
                .put("content", text(message.require("content"), message.path("content")));
        default ->
            throw JsonBody.invalidBody(
                "messages[%d].role: unknown variant `%s`, expected one of `user`, `assistant`, `system`"
                    .formatted(i, JsonFields.clipped(role)));
      }
    }
  }

  /** Drops the line that a coding agent writes for Anthropic's accounts; it breaks caches. */
  private static String withoutBilling(String system) {
    if (!system.startsWith(BILLING)) {
      return system;
    }
    int end = system.indexOf('\n');
    return end < 0 ? "" : system.substring(end + 1);
  }

  /** A text, or blocks of text joined by newlines. */
  private static String text(JsonNode content, String path) {
    if (content.isTextual()) {
      return content.textValue();
    }
    if (!content.isArray()) {
      throw JsonFields.wrong(path, content, "a string or a list of text blocks");
    }
    var text = new StringBuilder();
    for (int i = 0; i < content.size(); i++) {
      var block = JsonFields.of(content.get(i), path + "[" + i + "]");
      if (!block.requireString("type").equals("text")) {
        throw unsupported(block);
      }
      text.append(i == 0 ? "" : "\n").append(block.requireString("text"));
    }
    return text.toString();
  }

  private static ApiException unsupported(JsonFields block) {
    return refuse(
        "messages",
        "%s: content block type \"%s\" is not supported"
            .formatted(
                block.path().substring(0, block.path().length() - 1),
                JsonFields.clipped(block.requireString("type"))));
  }

  /** A user's turn: the results of tools, each a message of its own, and then the rest. */
  private static void user(JsonFields message, ArrayNode messages) {
    var content = message.require("content");
    if (content.isTextual()) {
      messages.addObject().put("role", "user").set("content", content);
      return;
    }
    if (!content.isArray()) {
      throw JsonFields.wrong(message.path("content"), content, "a string or a list of blocks");
    }
    var parts = JsonText.MAPPER.createArrayNode();
    for (int i = 0; i < content.size(); i++) {
      var block = JsonFields.of(content.get(i), message.path("content[" + i + "]"));
      if (block.requireString("type").equals("tool_result")) {
        var result =
            messages
                .addObject()
                .put("role", "tool")
                .put("tool_call_id", block.requireString("tool_use_id"));
        result.set("content", result(block));
      } else {
        parts.add(part(block));
      }
    }
    if (!parts.isEmpty() || content.isEmpty()) {
      var turn = messages.addObject().put("role", "user");
      if (parts.isEmpty()) {
        turn.put("content", "");
      } else {
        turn.set("content", parts);
      }
    }
  }

  private static JsonNode result(JsonFields block) {
    block.bool("is_error");
    var content = block.get("content");
    if (content == null) {
      return JsonText.MAPPER.getNodeFactory().textNode("");
    }
    if (content.isTextual()) {
      return content;
    }
    if (!content.isArray()) {
      throw JsonFields.wrong(block.path("content"), content, "a string or a list of blocks");
    }
    if (content.isEmpty()) {
      return JsonText.MAPPER.getNodeFactory().textNode("");
    }
    var parts = JsonText.MAPPER.createArrayNode();
    for (int i = 0; i < content.size(); i++) {
      parts.add(part(JsonFields.of(content.get(i), block.path("content[" + i + "]"))));
    }
    return parts;
  }

  /** A block of text or an image as a part of chat. */
  private static ObjectNode part(JsonFields block) {
    var part = JsonText.MAPPER.createObjectNode();
    switch (block.requireString("type")) {
      case "text" -> part.put("type", "text").put("text", block.requireString("text"));
      case "image" -> {
        part.put("type", "image_url");
        part.putObject("image_url")
            .put("url", url(JsonFields.of(block.require("source"), block.path("source"))));
      }
      default -> throw unsupported(block);
    }
    return part;
  }

  private static String url(JsonFields source) {
    var type = source.requireString("type");
    return switch (type) {
      case "base64" ->
          "data:%s;base64,%s"
              .formatted(source.requireString("media_type"), source.requireString("data"));
      case "url" -> source.requireString("url");
      default ->
          throw JsonBody.invalidBody(
              "%s: unknown variant `%s`, expected `base64` or `url`"
                  .formatted(source.path("type"), JsonFields.clipped(type)));
    };
  }

  private static void assistant(JsonFields message, ArrayNode messages) {
    var turn = messages.addObject().put("role", "assistant");
    var content = message.require("content");
    if (content.isTextual()) {
      turn.set("content", content);
      return;
    }
    if (!content.isArray()) {
      throw JsonFields.wrong(message.path("content"), content, "a string or a list of blocks");
    }
    @Nullable String text = null;
    @Nullable String thoughts = null;
    var calls = JsonText.MAPPER.createArrayNode();
    for (int i = 0; i < content.size(); i++) {
      var block = JsonFields.of(content.get(i), message.path("content[" + i + "]"));
      var type = block.requireString("type");
      switch (type) {
        case "text" -> text = joined(text, block.requireString("text"));
        case "thinking" -> thoughts = joined(thoughts, block.requireString("thinking"));
        case "tool_use" -> calls.add(call(block));
        default -> {
          if (!isOpaque(type)) {
            throw unsupported(block);
          }
        }
      }
    }
    turn.put("content", text == null ? "" : text);
    if (thoughts != null) {
      turn.put("reasoning_content", thoughts);
    }
    if (!calls.isEmpty()) {
      turn.set("tool_calls", calls);
    }
  }

  /** Whether a block of a former turn says nothing to a model here. */
  private static boolean isOpaque(String type) {
    return type.equals("redacted_thinking")
        || type.equals("server_tool_use")
        || type.endsWith("_tool_result");
  }

  private static String joined(@Nullable String before, String more) {
    return before == null ? more : before + "\n" + more;
  }

  private static ObjectNode call(JsonFields block) {
    var input = block.require("input");
    if (!input.isObject()) {
      throw JsonFields.wrong(block.path("input"), input, "a map");
    }
    var call = JsonText.MAPPER.createObjectNode();
    call.put("id", block.requireString("id")).put("type", "function");
    call.putObject("function")
        .put("name", block.requireString("name"))
        .put("arguments", input.toString());
    return call;
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
