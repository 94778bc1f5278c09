package io.dynamo.frontend.preprocess;

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
 * @param joinsText text-only content arrays become one string, a newline between the parts
 * @param parsesArguments argument strings of tool calls become objects
 */
record PromptMessages(boolean joinsText, boolean parsesArguments) {
  private static final Pattern ARGUMENT_TEST =
      Pattern.compile("arguments['\"\\])\\s]*\\s+is\\s+(not\\s+)?(string|mapping)");

  /** Whether a template looks at the type of a call's arguments, and so copes with a string. */
  static boolean readsArgumentText(String template) {
    return ARGUMENT_TEST.matcher(template).find();
  }

  List<Map<String, @Nullable Object>> of(List<Map<String, Object>> messages) {
    return messages.stream().map(this::message).toList();
  }

  private Map<String, @Nullable Object> message(Map<String, Object> message) {
    var fixed = new LinkedHashMap<String, @Nullable Object>(message);
    if (joinsText && message.get("content") instanceof List<?> parts && isTextOnly(parts)) {
      fixed.put(
          "content",
          parts.stream()
              .map(part -> ((Map<?, ?>) part).get("text"))
              .filter(String.class::isInstance)
              .map(String.class::cast)
              .collect(Collectors.joining("\n")));
    }
    if (parsesArguments && message.get("tool_calls") instanceof List<?> calls) {
      fixed.put("tool_calls", calls.stream().map(PromptMessages::call).toList());
    }
    return fixed;
  }

  private static boolean isTextOnly(List<?> parts) {
    return !parts.isEmpty()
        && parts.stream()
            .allMatch(part -> part instanceof Map<?, ?> map && "text".equals(map.get("type")));
  }

  private static Object call(Object call) {
    if (call instanceof Map<?, ?> map
        && map.get("function") instanceof Map<?, ?> function
        && function.get("arguments") instanceof String text) {
      var arguments = JsonTree.objectOrNull(text);
      return arguments == null
          ? call
          : with(map, "function", with(function, "arguments", arguments));
    }
    return call;
  }

  /** Tools with the parts of a schema that templates read without a look. */
  static List<?> tools(List<Map<String, Object>> tools) {
    var fixed = new ArrayList<Object>(tools.size());
    for (var tool : tools) {
      if (tool.get("function") instanceof Map<?, ?> function
          && function.get("parameters") instanceof Map<?, ?> parameters) {
        var schema = new LinkedHashMap<Object, @Nullable Object>(parameters);
        schema.putIfAbsent("type", "object");
        schema.putIfAbsent("properties", Map.of());
        fixed.add(with(tool, "function", with(function, "parameters", schema)));
      } else {
        fixed.add(tool);
      }
    }
    return fixed;
  }

  private static Map<?, ?> with(Map<?, ?> map, String key, Object value) {
    var changed = new LinkedHashMap<Object, @Nullable Object>(map);
    changed.put(key, value);
    return changed;
  }
}
