package io.dynamo.frontend.preprocess;

import io.dynamo.json.Json;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Brings messages and tools of a request into the form a chat template expects.
 *
 * @param content the form of content that the template accepts
 * @param parsesArguments argument strings of tool calls become objects
 * @param readsReasoning whether the template uses an assistant's reasoning; for one that does not,
 *     it goes in front of the content, as {@code <think>…</think>}
 */
record PromptMessages(Content content, boolean parsesArguments, boolean readsReasoning) {
  /** The form of content that a template accepts. */
  enum Content {
    /** Text, with the names of media in it. */
    TEXT,
    /** Text, or parts when there are media. */
    TEXT_OR_PARTS,
    /** Parts, or text when the request has text. */
    PARTS
  }

  static final String NO_PARTS = "[]"; // as Dynamo's templates print them

  private static final List<String> FUNCTION_FIELDS =
      List.of("name", "description", "parameters", "strict");
  private static final Pattern ARGUMENT_TEST =
      Pattern.compile("arguments['\"\\])\\s]*\\s+is\\s+(not\\s+)?(string|mapping)");
  private static final Pattern REASONING =
      Pattern.compile("reasoning_content|\\.thinking\\b|['\"]thinking['\"]");

  /** Whether a template looks at the type of a call's arguments, and so copes with a string. */
  static boolean readsArgumentText(String template) {
    return ARGUMENT_TEST.matcher(template).find();
  }

  /** Whether a template reads a message's reasoning, by either of its names. */
  static boolean readsReasoning(String template) {
    return REASONING.matcher(template).find();
  }

  List<Map<String, @Nullable Object>> of(List<Map<String, Object>> messages) {
    return messages.stream().map(this::message).toList();
  }

  private Map<String, @Nullable Object> message(Map<String, Object> message) {
    var fixed = new LinkedHashMap<String, @Nullable Object>(message);
    if (message.get("content") instanceof List<?> parts) {
      fixed.put("content", parts.isEmpty() ? NO_PARTS : content(parts));
    }
    if (parsesArguments && message.get("tool_calls") instanceof List<?> calls) {
      fixed.put("tool_calls", calls.stream().map(PromptMessages::call).toList());
    }
    var reasoning =
        message.get("reasoning_content") instanceof String text ? text : message.get("thinking");
    if (reasoning instanceof String text) {
      if (readsReasoning) {
        fixed.put("reasoning_content", text);
        fixed.putIfAbsent("thinking", text);
      } else if (!text.isEmpty() && "assistant".equals(message.get("role"))) {
        fixed.put("content", thought(text, fixed.get("content")));
      }
    }
    return fixed;
  }

  private static Object thought(String reasoning, @Nullable Object content) {
    var thought = "<think>" + reasoning + "</think>";
    if (content instanceof List<?> parts) {
      var all = new ArrayList<Object>();
      var part = new LinkedHashMap<String, Object>();
      part.put("type", "text");
      part.put("text", thought);
      all.add(part);
      all.addAll(parts);
      return all;
    }
    return content == null ? thought : thought + content;
  }

  private Object content(List<?> parts) {
    boolean keepsParts =
        switch (content) {
          case TEXT -> false;
          case TEXT_OR_PARTS -> parts.stream().anyMatch(part -> medium(part) != null);
          case PARTS -> true;
        };
    if (keepsParts) {
      return parts.stream().map(PromptMessages::withoutData).toList();
    }
    return parts.stream()
        .map(PromptMessages::text)
        .filter(text -> !text.isEmpty())
        .collect(Collectors.joining("\n"));
  }

  /** A part's text; for a medium its name in brackets. */
  private static String text(@Nullable Object part) {
    var medium = medium(part);
    if (medium != null) {
      return "<" + medium + ">";
    }
    return part instanceof Map<?, ?> map && map.get("text") instanceof String text ? text : "";
  }

  /** A part with the kind of a medium alone: templates print a token for it. */
  private static @Nullable Object withoutData(@Nullable Object part) {
    var medium = medium(part);
    return medium == null ? part : Map.of("type", medium);
  }

  private static @Nullable String medium(@Nullable Object part) {
    return switch (part instanceof Map<?, ?> map ? String.valueOf(map.get("type")) : "") {
      case "image", "image_url", "input_image" -> "image";
      case "video", "video_url" -> "video";
      case "audio", "audio_url", "input_audio" -> "audio";
      default -> null;
    };
  }

  private static Object call(Object call) {
    if (call instanceof Map<?, ?> map
        && map.get("function") instanceof Map<?, ?> function
        && function.get("arguments") instanceof String text) {
      var arguments = Json.objectOrNull(text);
      return arguments == null
          ? call
          : with(map, "function", with(function, "arguments", arguments));
    }
    return call;
  }

  /**
   * Tools as Dynamo gives them to templates, so that a request has the same tokens behind either
   * frontend: the fields of the API alone, in a fixed order, without nulls; every function has a
   * description, be it empty, and every schema a type and properties.
   */
  static List<?> tools(List<Map<String, Object>> tools) {
    return tools.stream().map(PromptMessages::tool).toList();
  }

  private static Map<?, ?> tool(Map<String, Object> tool) {
    if (!(tool.get("function") instanceof Map<?, ?> function)) {
      return tool;
    }
    var fixed = new LinkedHashMap<String, @Nullable Object>();
    fixed.put("type", tool.get("type"));
    fixed.put("function", function(function));
    return fixed;
  }

  private static Map<?, ?> function(Map<?, ?> function) {
    var fixed = new LinkedHashMap<String, @Nullable Object>();
    for (var field : FUNCTION_FIELDS) {
      var value = function.get(field);
      if (value != null) {
        fixed.put(field, value instanceof Map<?, ?> schema ? schema(schema) : value);
      }
    }
    fixed.putIfAbsent("description", ""); // behind the others, as there
    return fixed;
  }

  private static Map<?, ?> schema(Map<?, ?> schema) {
    var fixed = new LinkedHashMap<Object, @Nullable Object>(schema);
    if (!fixed.containsKey("type")) { // a null stays
      fixed.put("type", "object");
    }
    if (!fixed.containsKey("properties")) {
      fixed.put("properties", Map.of());
    }
    return fixed;
  }

  private static Map<?, ?> with(Map<?, ?> map, String key, Object value) {
    var changed = new LinkedHashMap<Object, @Nullable Object>(map);
    changed.put(key, value);
    return changed;
  }

  /** The function of a call, which may be the call itself. */
  static Map<?, ?> function(@Nullable Object call) {
    return call instanceof Map<?, ?> map
        ? map.get("function") instanceof Map<?, ?> function ? function : map
        : Map.of();
  }
}
