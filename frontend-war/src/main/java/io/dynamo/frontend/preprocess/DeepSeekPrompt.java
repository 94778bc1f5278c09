package io.dynamo.frontend.preprocess;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.frontend.preprocess.jinja.JsonText;
import io.dynamo.json.Json;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The parts that prompts of DeepSeek's families without chat template share. Stateless. */
final class DeepSeekPrompt {
  static final String START = "<｜begin▁of▁sentence｜>";
  static final String END = "<｜end▁of▁sentence｜>";
  static final String USER = "<｜User｜>";
  static final String ASSISTANT = "<｜Assistant｜>";
  static final String THINK = "<think>";
  static final String THOUGHT = "</think>";
  private static final String DSML = "｜DSML｜";

  private DeepSeekPrompt() {}

  /** Whether the model shall think, as it does unless a request says otherwise. */
  static boolean thinks(Map<String, Object> args) {
    for (var name : List.of("thinking", "enable_thinking")) {
      if (args.get(name) instanceof Boolean on) {
        return on;
      }
    }
    return switch (String.valueOf(args.get("thinking_mode"))) {
      case "chat", "disabled" -> false;
      case "thinking", "enabled" -> true;
      default -> !"none".equals(args.get("reasoning_effort"));
    };
  }

  static boolean asksForAnswer(Map<String, Object> args) {
    return !Boolean.FALSE.equals(args.get("add_generation_prompt"));
  }

  static String role(Map<String, Object> message) {
    return String.valueOf(message.get("role"));
  }

  /** The messages, with what else the request says in the first of the system's, new if needed. */
  static List<Map<String, Object>> messages(ChatPrompt prompt) {
    var messages = new ArrayList<>(prompt.messages());
    var extra = new LinkedHashMap<String, Object>();
    if (!prompt.tools().isEmpty()) {
      extra.put("tools", PromptMessages.tools(prompt.tools()));
    }
    if (prompt.responseFormat() != null) {
      extra.put("response_format", prompt.responseFormat());
    }
    if (extra.isEmpty()) {
      return messages;
    }
    int at = 0;
    while (at < messages.size() && !role(messages.get(at)).equals("system")) {
      at++;
    }
    if (at == messages.size()) {
      at = 0;
      messages.addFirst(Map.of("role", "system"));
    }
    var system = new LinkedHashMap<>(messages.get(at));
    system.putAll(extra);
    messages.set(at, system);
    return messages;
  }

  /** The number of the last message of a user or developer; -1 when there is none. */
  static int lastUser(List<Map<String, Object>> messages) {
    int at = messages.size() - 1;
    while (at >= 0
        && !role(messages.get(at)).equals("user")
        && !role(messages.get(at)).equals("developer")) {
      at--;
    }
    return at;
  }

  /** The text of a message's content, its parts one behind the other. */
  static String text(Map<String, Object> message) {
    return switch (message.get("content")) {
      case String text -> text;
      case List<?> parts when parts.isEmpty() -> PromptMessages.NO_PARTS;
      case List<?> parts -> {
        var out = new StringBuilder();
        for (var part : parts) {
          if (!(part instanceof Map<?, ?> map) || !(map.get("text") instanceof String text)) {
            throw new InvalidRequestException(
                "messages of this DeepSeek model take text alone, but one has a part of the type "
                    + (part instanceof Map<?, ?> map ? map.get("type") : "unknown")
                    + "; leave it out");
          }
          out.append(text);
        }
        yield out.toString();
      }
      case null -> "";
      default ->
          throw new InvalidRequestException(
              "the content of a message is neither text nor a list of parts");
    };
  }

  /** The text of a developer, who must say something, as the published encoders demand. */
  static String developerText(Map<String, Object> message) {
    var text = text(message);
    if (text.isEmpty()) {
      throw new InvalidRequestException(
          "a message of the role developer has no content, but this DeepSeek model needs one; give"
              + " it content, or leave the message out");
    }
    return text;
  }

  static String reasoning(Map<String, Object> message) {
    var thought = message.get("reasoning_content");
    return (thought == null ? message.get("reasoning") : thought) instanceof String text
        ? text
        : "";
  }

  static InvalidRequestException unknownRole(Map<String, Object> message) {
    return new InvalidRequestException(
        "a message has the role %s, but prompts of this DeepSeek model take system, developer, user, assistant and tool"
            .formatted(role(message)));
  }

  /** The tools and the form of answers that a message names. */
  static String declared(Map<String, Object> message, String heading) {
    var out = new StringBuilder();
    var tools = tools(message);
    if (!tools.isEmpty()) {
      var schemas = new ArrayList<String>();
      for (var tool : tools) {
        schemas.add(JsonText.spaced(PromptMessages.function(tool)));
      }
      out.append("\n\n").append(heading.replace("｛schemas｝", String.join("\n", schemas)));
    }
    var format = message.get("response_format");
    if (format != null) {
      out.append(
              "\n\n## Response Format:\n\nYou MUST strictly adhere to the following schema to reply:\n")
          .append(JsonText.spaced(format));
    }
    return out.toString();
  }

  static List<?> tools(Map<String, Object> message) {
    return message.get("tools") instanceof List<?> tools ? tools : List.of();
  }

  static List<?> calls(Map<String, Object> message) {
    return message.get("tool_calls") instanceof List<?> calls ? calls : List.of();
  }

  /** The calls of an assistant's message; empty when it has none. */
  static String written(List<?> calls, String block) {
    if (calls.isEmpty()) {
      return "";
    }
    var out = new StringBuilder("\n\n<").append(DSML).append(block).append(">\n");
    for (var call : calls) {
      var function = PromptMessages.function(call);
      out.append('<').append(DSML).append("invoke name=\"").append(function.get("name"));
      out.append("\">\n").append(arguments(function.get("arguments")));
      out.append("\n</").append(DSML).append("invoke>\n");
    }
    return out.append("</").append(DSML).append(block).append('>').toString();
  }

  private static String arguments(@Nullable Object given) {
    var read = given instanceof String text && !text.isBlank() ? Json.objectOrNull(text) : given;
    var arguments =
        read instanceof Map<?, ?> map
            ? map
            : given instanceof String text && !text.isBlank()
                ? Map.of("arguments", text)
                : Map.of();
    var lines = new ArrayList<String>();
    for (var entry : arguments.entrySet()) {
      var value = entry.getValue();
      lines.add(
          "<%sparameter name=\"%s\" string=\"%b\">%s</%sparameter>"
              .formatted(
                  DSML,
                  entry.getKey(),
                  value instanceof String,
                  value instanceof String text ? text : JsonText.spaced(value),
                  DSML));
    }
    return String.join("\n", lines);
  }

  /** The places of calls by their ids. */
  static Map<String, Integer> places(List<?> calls) {
    var places = new HashMap<String, Integer>();
    for (int i = 0; i < calls.size(); i++) {
      if (calls.get(i) instanceof Map<?, ?> call && call.get("id") instanceof String id) {
        places.put(id, i);
      }
    }
    return places;
  }

  /**
   * The results of tools, sorted as the calls that they answer.
   *
   * @param places of the calls, as {@link #places} gives them
   */
  static List<Map<String, Object>> inOrder(
      List<Map<String, Object>> results, Map<String, Integer> places) {
    var sorted = new ArrayList<>(results);
    sorted.sort(
        Comparator.comparingInt(
            result -> places.getOrDefault(String.valueOf(result.get("tool_call_id")), 0)));
    return sorted;
  }
}
