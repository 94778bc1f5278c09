package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Puts the items of a Responses request into chat's messages. */
final class ResponsesInput {
  private ResponsesInput() {}

  /**
   * Sets the messages of {@code chat}.
   *
   * @param fields of the request
   * @param earlier the items of the turns before; instructions are not among them
   */
  static void addTo(ObjectNode chat, JsonFields fields, List<JsonNode> earlier) {
    var messages = chat.putArray("messages");
    var instructions = fields.string("instructions");
    if (instructions != null) {
      messages.addObject().put("role", "system").put("content", instructions);
    }
    @Nullable ObjectNode turn = null; // the assistant's, which several items make
    for (int i = 0; i < earlier.size(); i++) {
      turn = add(JsonFields.of(earlier.get(i), "earlier items[" + i + "]"), messages, turn);
    }
    var input = fields.require("input");
    if (input.isTextual()) {
      messages.addObject().put("role", "user").set("content", input);
      return;
    }
    if (!input.isArray()) {
      throw JsonBody.invalidBody("input must be a string or an array of input items");
    }
    if (input.isEmpty()) {
      throw GenerationReader.refuse("input", "Messages array cannot be empty");
    }
    for (int i = 0; i < input.size(); i++) {
      turn = add(JsonFields.of(input.get(i), "input[" + i + "]"), messages, turn);
    }
  }

  /**
   * Checks items that a later request continues.
   *
   * @param path of the list
   * @throws io.dynamo.frontend.ApiException with 400 for what no request could have
   */
  static void check(JsonNode items, String path) {
    var messages = JsonText.MAPPER.createArrayNode();
    for (int i = 0; i < items.size(); i++) {
      add(JsonFields.of(items.get(i), path + "[" + i + "]"), messages, null);
    }
  }

  /** Adds an item; returns the assistant's message when further items may belong to it. */
  private static @Nullable ObjectNode add(
      JsonFields item, ArrayNode messages, @Nullable ObjectNode open) {
    var type = item.string("type");
    return switch (type == null ? "message" : type) {
      case "message" -> message(item, messages, open);
      case "function_call" -> {
        var turn = open == null ? assistant(messages) : open;
        call(item, turn);
        yield turn;
      }
      case "reasoning" -> {
        var turn = open == null || open.has("tool_calls") ? assistant(messages) : open;
        thoughts(item, turn);
        yield turn;
      }
      case "function_call_output" -> {
        messages
            .addObject()
            .put("role", "tool")
            .put("tool_call_id", item.requireString("call_id"))
            .set("content", content(item.require("output"), item.path("output")));
        yield null;
      }
      default ->
          throw GenerationReader.refuse(
              "input",
              "%s: items of type \"%s\" are not supported"
                  .formatted(item.path("type"), JsonFields.clipped(String.valueOf(type))));
    };
  }

  private static ObjectNode assistant(ArrayNode messages) {
    return messages.addObject().put("role", "assistant").put("content", "");
  }

  /** Adds a message; returns it when further items belong to it. */
  private static @Nullable ObjectNode message(
      JsonFields item, ArrayNode messages, @Nullable ObjectNode open) {
    var role = item.requireString("role");
    var content = content(item.require("content"), item.path("content"));
    if (!role.equals("assistant")) {
      messages.addObject().put("role", role).set("content", content);
      return null;
    }
    boolean fits =
        open != null && !open.has("tool_calls") && open.path("content").asText("").isEmpty();
    var turn = fits && open != null ? open : assistant(messages);
    turn.set("content", content);
    return turn;
  }

  /** Content as chat has it. */
  private static JsonNode content(JsonNode content, String path) {
    if (content.isTextual()) {
      return content;
    }
    if (!content.isArray()) {
      throw JsonFields.wrong(path, content, "a string or a list of parts");
    }
    if (content.isEmpty()) {
      return JsonText.MAPPER.getNodeFactory().textNode("");
    }
    var parts = JsonText.MAPPER.createArrayNode();
    for (int i = 0; i < content.size(); i++) {
      var part = JsonFields.of(content.get(i), path + "[" + i + "]");
      var type = part.requireString("type");
      switch (type) {
        case "input_text", "output_text", "text" ->
            parts.addObject().put("type", "text").put("text", part.requireString("text"));
        case "refusal" ->
            parts.addObject().put("type", "text").put("text", part.requireString("refusal"));
        case "input_image" -> {
          if (part.get("file_id") != null) {
            throw GenerationReader.refuse(
                "input", part.path("file_id") + ": files are not supported; send a URL");
          }
          parts
              .addObject()
              .put("type", "image_url")
              .putObject("image_url")
              .put("url", part.requireString("image_url"));
        }
        default ->
            throw GenerationReader.refuse(
                "input",
                "%s: content of type \"%s\" is not supported"
                    .formatted(part.path("type"), JsonFields.clipped(type)));
      }
    }
    return parts;
  }

  private static void call(JsonFields item, ObjectNode turn) {
    var calls =
        turn.get("tool_calls") instanceof ArrayNode given ? given : turn.putArray("tool_calls");
    calls
        .addObject()
        .put("id", item.requireString("call_id"))
        .put("type", "function")
        .putObject("function")
        .put("name", item.requireString("name"))
        .put("arguments", item.requireString("arguments"));
  }

  private static void thoughts(JsonFields item, ObjectNode turn) {
    var text = new StringBuilder(turn.path("reasoning_content").asText(""));
    for (var field : List.of("content", "summary")) {
      var parts = item.get(field);
      if (parts == null || parts.isEmpty()) {
        continue;
      }
      if (!parts.isArray()) {
        throw JsonFields.wrong(item.path(field), parts, "a sequence");
      }
      for (int i = 0; i < parts.size(); i++) {
        var part = JsonFields.of(parts.get(i), item.path(field + "[" + i + "]"));
        text.append(text.isEmpty() ? "" : "\n").append(part.requireString("text"));
      }
      break; // a summary says the same again
    }
    if (!text.isEmpty()) {
      turn.put("reasoning_content", text.toString());
    }
  }
}
