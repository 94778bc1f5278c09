package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.databind.JsonNode;
import io.dynamo.frontend.ApiException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One message of a conversation.
 *
 * @param content text; of text parts, joined by newlines, an empty list for none; empty text for an
 *     assistant that only called tools; with media, the list of parts as a template wants them
 * @param toolCalls as a template wants them: arguments are a map, not JSON in a string
 */
public record ChatMessage(
    String role,
    Object content,
    @Nullable String name,
    @Nullable String toolCallId,
    @Nullable String reasoning,
    List<Map<String, Object>> toolCalls) {
  private static final Set<String> ROLES =
      Set.of("system", "developer", "user", "assistant", "tool", "function");

  public ChatMessage {
    toolCalls = List.copyOf(toolCalls);
  }

  /** The message as a chat template sees it. */
  public Map<String, Object> forTemplate() {
    var map = new LinkedHashMap<String, Object>();
    map.put("role", role);
    map.put("content", content);
    if (name != null) {
      map.put("name", name);
    }
    if (toolCallId != null) {
      map.put("tool_call_id", toolCallId);
    }
    if (reasoning != null) {
      map.put("reasoning_content", reasoning);
    }
    if (!toolCalls.isEmpty()) {
      map.put("tool_calls", toolCalls);
    }
    return map;
  }

  /**
   * A message of the model.
   *
   * @param reasoning empty for none
   * @param calls made by {@link #toolCall}
   */
  public static ChatMessage ofModel(
      String content, String reasoning, List<Map<String, Object>> calls) {
    return new ChatMessage(
        "assistant", content, null, null, reasoning.isEmpty() ? null : reasoning, calls);
  }

  /** A tool call of a message; arguments that are no JSON object are left out. */
  public static Map<String, Object> toolCall(String id, String name, String arguments) {
    return call(id, name, arguments(arguments, "arguments", new ArrayList<>()));
  }

  /**
   * Reads a message; unknown keys are ignored.
   *
   * @param faults gets the faults of tool calls, which are reported after those of types
   */
  static ChatMessage read(JsonNode node, String path, MediaSlots media, List<String> faults) {
    var fields = JsonFields.of(node, path);
    var role = fields.requireString("role");
    if (!ROLES.contains(role)) {
      throw JsonBody.invalidBody(
          "%s.role: unknown variant `%s`, expected one of `developer`, `system`, `user`, `assistant`, `tool`, `function`"
              .formatted(path, JsonFields.clipped(role)));
    }
    boolean assistant = role.equals("assistant");
    var content = assistant ? fields.get("content") : fields.require("content");
    return new ChatMessage(
        role,
        content == null ? "" : content(content, fields.path("content"), media),
        fields.string("name"),
        role.equals("tool") ? fields.requireString("tool_call_id") : null,
        assistant ? reasoning(fields) : null,
        assistant ? toolCalls(fields, faults) : List.of());
  }

  private static @Nullable String reasoning(JsonFields fields) {
    for (var name : List.of("reasoning_content", "reasoning")) {
      var text = fields.get(name);
      if (text != null) {
        return text(text, fields.path(name));
      }
    }
    return null;
  }

  /** Joins text parts. */
  private static Object content(JsonNode content, String path, MediaSlots media) {
    if (content.isArray() && content.isEmpty()) {
      return List.of();
    }
    return content.isArray() && !isTextOnly(content)
        ? parts(content, path, media)
        : text(content, path);
  }

  private static boolean isTextOnly(JsonNode parts) {
    for (var part : parts) {
      var type = part.path("type").asText();
      if (MediaSlots.isMedia(type) || type.equals(MediaSlots.SOUND)) {
        return false;
      }
    }
    return true;
  }

  private static List<Object> parts(JsonNode content, String path, MediaSlots media) {
    var parts = new ArrayList<Object>(content.size());
    for (int i = 0; i < content.size(); i++) {
      var part = JsonFields.of(content.get(i), path + "[" + i + "]");
      var type = part.requireString("type");
      if (MediaSlots.isMedia(type)) {
        parts.add(media.add(type, part));
      } else if (type.equals(MediaSlots.SOUND)) {
        parts.add(media.addSound(part));
      } else if (type.equals("text")) {
        var text = new LinkedHashMap<String, Object>();
        text.put("type", "text");
        text.put("text", part.requireString("text"));
        parts.add(text);
      } else {
        throw unknownPart(part.path("type"), type);
      }
    }
    return parts;
  }

  private static ApiException unknownPart(String path, String type) {
    return JsonBody.invalidBody(
        "%s: unknown variant `%s`, expected one of `text`, `image_url`, `video_url`, `audio_url`, `input_audio`"
            .formatted(path, JsonFields.clipped(type)));
  }

  private static String text(JsonNode content, String path) {
    if (content.isTextual()) {
      return content.textValue();
    }
    if (!content.isArray()) {
      throw JsonFields.wrong(path, content, "a string or a list of text parts");
    }
    var text = new StringBuilder();
    for (int i = 0; i < content.size(); i++) {
      var at = path + "[" + i + "]";
      var part = JsonFields.of(content.get(i), at);
      var type = part.requireString("type");
      if (!type.equals("text")) {
        throw unknownPart(at + ".type", type);
      }
      text.append(i == 0 ? "" : "\n").append(part.requireString("text"));
    }
    return text.toString();
  }

  private static List<Map<String, Object>> toolCalls(JsonFields message, List<String> faults) {
    var calls = message.get("tool_calls");
    if (calls == null) {
      return List.of();
    }
    if (!calls.isArray()) {
      throw JsonFields.wrong(message.path("tool_calls"), calls, "a sequence");
    }
    var read = new ArrayList<Map<String, Object>>();
    for (int i = 0; i < calls.size(); i++) {
      var call = JsonFields.of(calls.get(i), message.path("tool_calls[" + i + "]"));
      var function = JsonFields.of(call.require("function"), call.path("function"));
      var arguments =
          arguments(function.requireString("arguments"), function.path("arguments"), faults);
      var id = call.requireString("id");
      read.add(call(id, function.requireString("name"), arguments));
    }
    return read;
  }

  /** Returns a tool call as a map in Dynamo's order of fields, which a template may print. */
  private static Map<String, Object> call(String id, String name, Map<String, Object> arguments) {
    var function = new LinkedHashMap<String, Object>();
    function.put("name", name);
    function.put("arguments", arguments);
    var call = new LinkedHashMap<String, Object>();
    call.put("id", id);
    call.put("type", "function");
    call.put("function", function);
    return call;
  }

  private static Map<String, Object> arguments(String json, String path, List<String> faults) {
    if (json.isBlank()) {
      return Map.of();
    }
    var fault = "`" + path + "` must be a valid JSON object string";
    try {
      var parsed = JsonText.parse(json);
      if (parsed.isObject()) {
        return JsonFields.plainMap(parsed);
      }
      faults.add(fault);
    } catch (JsonText.Malformed e) {
      faults.add(fault + ": " + e.fault());
    }
    return Map.of();
  }
}
