package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Reads requests of OpenAI's Responses API: puts them into chat's form and has that read, so that
 * every bound of chat holds. Keys that are not known are refused by name.
 */
public final class ResponsesReader {
  private static final List<String> AS_IN_CHAT =
      List.of(
          "model",
          "temperature",
          "top_p",
          "parallel_tool_calls",
          "stream",
          "service_tier",
          "store",
          "prompt_cache_key",
          "metadata",
          "user",
          "nvext");

  /** Read here, or checked without effect. */
  private static final Set<String> OWN =
      Set.of(
          "input",
          "instructions",
          "max_output_tokens",
          "tools",
          "tool_choice",
          "text",
          "reasoning",
          "include",
          "truncation",
          "stream_options",
          "prompt_cache_retention",
          "safety_identifier",
          "top_logprobs",
          "background",
          "previous_response_id",
          "conversation",
          "prompt",
          "max_tool_calls");

  /** Fields of the API that are not offered, unless null. */
  private static final List<String> NOT_OFFERED =
      List.of("previous_response_id", "conversation", "prompt", "max_tool_calls");

  private static final Set<String> EXTRA_NOT_OFFERED =
      Set.of("completion_token_ids", "prompt_logprobs");

  private ResponsesReader() {}

  /** The top-level fields that are read. */
  public static Set<String> names() {
    var names = new TreeSet<>(OWN);
    names.addAll(AS_IN_CHAT);
    return names;
  }

  /** Whether a top-level field is one of the API's. */
  public static boolean knows(String field) {
    return OWN.contains(field) || AS_IN_CHAT.contains(field);
  }

  /**
   * A checked request.
   *
   * @param echo the part of the answer that repeats it
   */
  public record Read(ChatRequest chat, ResponsesEcho echo) {
    /** Creates the writer of the answer. */
    public AnswerFormat answer(String requestId, long createdSeconds, String model) {
      return new ResponsesAnswer(requestId, createdSeconds, model, echo);
    }
  }

  /**
   * Reads and checks.
   *
   * @throws ApiException with 400, or 501 for what is not offered
   */
  public static Read read(JsonNode body) {
    var fields = JsonFields.of(body, "");
    refuseUnknown(fields);
    refuseNotOffered(fields);
    var chat = JsonText.MAPPER.createObjectNode();
    for (var name : AS_IN_CHAT) {
      var value = fields.get(name);
      if (value != null) {
        chat.set(name, value);
      }
    }
    var budget = fields.get("max_output_tokens");
    if (budget != null) {
      fields.whole("max_output_tokens", 0, 0xFFFF_FFFFL);
      chat.set("max_tokens", budget);
    }
    conversation(fields, chat);
    var allowed = choice(fields, chat);
    tools(fields, chat, allowed);
    form(fields, chat);
    reasoning(fields, chat);
    ignored(fields);
    try {
      return new Read(ChatRequestReader.read(chat), ResponsesEcho.of(fields));
    } catch (ApiException e) {
      throw renamed(e.error());
    }
  }

  private static ApiException renamed(ApiError error) {
    var param = error.param();
    return new ApiException(
        new ApiError(
            error.status(),
            error.message(),
            error.code(),
            "max_tokens".equals(param)
                ? "max_output_tokens"
                : "messages".equals(param) ? "input" : param,
            error.retryAfterSeconds(),
            error.limit()));
  }

  private static void refuseUnknown(JsonFields fields) {
    var unknown = new TreeSet<String>();
    for (var entry : fields.object().properties()) {
      if (!knows(entry.getKey())) {
        unknown.add("`" + JsonFields.clipped(entry.getKey()) + "`");
      }
    }
    if (!unknown.isEmpty()) {
      throw GenerationReader.refuse(
          null, "Unsupported parameter(s): " + JsonFields.clippedList(String.join(", ", unknown)));
    }
  }

  private static void refuseNotOffered(JsonFields fields) {
    if (fields.bool("background")) {
      throw notOffered("background", "`background: true` is not supported.");
    }
    for (var name : NOT_OFFERED) {
      if (fields.get(name) != null) {
        throw notOffered(name, "`" + name + "` is not supported.");
      }
    }
    var top = fields.integer("top_logprobs", 0, 20);
    if (top != null && top > 0) {
      throw notOffered("top_logprobs", "`top_logprobs` is not supported; chat has it.");
    }
    if (fields.strings("include").contains("message.output_text.logprobs")) {
      throw notOffered(
          "include", "`message.output_text.logprobs` is not supported; chat has them.");
    }
    var nvext = fields.get("nvext");
    if (nvext != null && nvext.path("extra_fields").isArray()) {
      for (var extra : nvext.get("extra_fields")) {
        if (extra.isTextual() && EXTRA_NOT_OFFERED.contains(extra.textValue())) {
          throw notOffered(
              "nvext.extra_fields",
              "`nvext.extra_fields=[\"%s\"]` is not supported by the Responses API."
                  .formatted(extra.textValue()));
        }
      }
    }
  }

  private static ApiException notOffered(String param, String message) {
    return new ApiException(new ApiError(501, "Validation: " + message, null, param, null));
  }

  private static ApiException refuse(String param, String message) {
    return GenerationReader.refuse(param, message);
  }

  private static void conversation(JsonFields fields, ObjectNode chat) {
    var messages = chat.putArray("messages");
    var instructions = fields.string("instructions");
    if (instructions != null) {
      messages.addObject().put("role", "system").put("content", instructions);
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
      throw refuse("input", "Messages array cannot be empty");
    }
    @Nullable ObjectNode turn = null; // the assistant's, which several items make
    for (int i = 0; i < input.size(); i++) {
      var item = JsonFields.of(input.get(i), "input[" + i + "]");
      var type = item.string("type");
      switch (type == null ? "message" : type) {
        case "message" -> turn = message(item, messages, turn);
        case "function_call" -> {
          turn = turn == null ? assistant(messages) : turn;
          call(item, turn);
        }
        case "reasoning" -> {
          turn = turn == null || turn.has("tool_calls") ? assistant(messages) : turn;
          thoughts(item, turn);
        }
        case "function_call_output" -> {
          turn = null;
          messages
              .addObject()
              .put("role", "tool")
              .put("tool_call_id", item.requireString("call_id"))
              .set("content", content(item.require("output"), item.path("output")));
        }
        default ->
            throw refuse(
                "input",
                "%s: items of type \"%s\" are not supported"
                    .formatted(item.path("type"), JsonFields.clipped(String.valueOf(type))));
      }
    }
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
            throw refuse("input", part.path("file_id") + ": files are not supported; send a URL");
          }
          parts
              .addObject()
              .put("type", "image_url")
              .putObject("image_url")
              .put("url", part.requireString("image_url"));
        }
        default ->
            throw refuse(
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
    return refuse(
        "tools",
        "%s: tools of type \"%s\" are not supported; send functions"
            .formatted(path, JsonFields.clipped(type)));
  }

  private static void tools(JsonFields fields, ObjectNode chat, @Nullable Set<String> allowed) {
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

  private static void form(JsonFields fields, ObjectNode chat) {
    var node = fields.get("text");
    if (node == null) {
      return;
    }
    var text = JsonFields.of(node, "text");
    text.string("verbosity");
    var wanted = text.get("format");
    if (wanted == null) {
      return;
    }
    var format = JsonFields.of(wanted, "text.format");
    var type = format.requireString("type");
    var form = chat.putObject("response_format").put("type", type);
    if (type.equals("json_schema")) {
      form.putObject("json_schema")
          .put("name", format.requireString("name"))
          .set("schema", format.require("schema"));
    }
  }

  private static void reasoning(JsonFields fields, ObjectNode chat) {
    var node = fields.get("reasoning");
    if (node == null) {
      return;
    }
    var reasoning = JsonFields.of(node, "reasoning");
    reasoning.string("summary");
    reasoning.string("generate_summary");
    var effort = reasoning.string("effort");
    if (effort != null) {
      chat.put("reasoning_effort", effort);
    }
  }

  /** Checks the types of fields that have no effect here. */
  private static void ignored(JsonFields fields) {
    fields.string("truncation");
    fields.string("prompt_cache_retention");
    fields.string("safety_identifier");
    fields.map("stream_options");
  }
}
