package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dynamo.frontend.ApiException;
import org.jspecify.annotations.Nullable;

/** Puts the system prompt and the turns of a Messages request into chat's messages. */
final class MessagesInput {
  private static final String BILLING = "x-anthropic-billing-header:";

  private MessagesInput() {}

  /**
   * Sets the messages of {@code chat}.
   *
   * @param fields of the request
   */
  static void addTo(ObjectNode chat, JsonFields fields) {
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
      throw GenerationReader.refusePlainly("messages", "messages: field required");
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
    return GenerationReader.refusePlainly(
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

  /** Whether a block of a former turn has no meaning for a model here. */
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
}
