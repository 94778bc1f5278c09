package io.dynamo.frontend.preprocess;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.frontend.preprocess.jinja.JinjaException;
import io.dynamo.frontend.preprocess.jinja.JsonText;
import io.dynamo.json.Json;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The prompts of Kimi K3, which has no chat template: elements whose angle brackets are special
 * tokens, with channels for thoughts, answers and calls. Stateless.
 */
final class KimiK3Format implements PromptFormat {
  private static final String MODEL_TYPE = "kimi_k3";

  private static final List<String> EFFORTS = List.of("low", "high", "max");

  /** Whether a parsed {@code config.json} is that of the model. */
  static boolean isOf(Map<?, ?> config) {
    return MODEL_TYPE.equals(config.get("model_type"));
  }

  @Override
  public PromptText render(ChatPrompt prompt) {
    try {
      return new Writing(prompt.templateArgs()).of(prompt);
    } catch (JinjaException e) { // of a JSON value
      throw new InvalidRequestException(String.valueOf(e.getMessage()));
    }
  }

  /** One prompt while it is written. */
  private static final class Writing {
    private final KimiK3Text out = new KimiK3Text();
    private final Map<String, Object> args;
    private final boolean thinks;

    private Writing(Map<String, Object> args) {
      this.args = args;
      this.thinks =
          !Boolean.FALSE.equals(args.get("thinking"))
              && !Boolean.FALSE.equals(args.get("enable_thinking"));
    }

    private PromptText of(ChatPrompt prompt) {
      if (!prompt.tools().isEmpty()) {
        declare("# Tools\nHere are the available tools, described in JSONSchema.", prompt.tools());
      }
      if (thinks) {
        effort();
      }
      messages(prompt.messages());
      toolChoice(prompt);
      responseFormat(prompt.responseFormat());
      if (!Boolean.FALSE.equals(args.get("add_generation_prompt"))) {
        out.open("message", "role", "assistant");
        out.open(thinks ? "think" : "response");
      }
      return out.build();
    }

    private void effort() {
      system(
          "thinking-effort",
          "`thinking_effort` guides on how much to think in your thinking channel (not including"
              + " the response channel), supported values include `low`, `medium`, `high`, and"
              + " `max`.\nNow the system is invoked with `thinking_effort="
              + KimiK3Format.effort(args)
              + "`.");
    }

    private void toolChoice(ChatPrompt prompt) {
      if ("required".equals(prompt.toolChoice())) {
        system(
            "tool-choice",
            "The system is invoked with `tool_choice=required`.\n"
                + "You MUST call tools in the next message.");
      } else if ("none".equals(prompt.toolChoice()) && !prompt.tools().isEmpty()) {
        system(
            "tool-choice",
            "The system is invoked with `tool_choice=none`.\n"
                + "You MUST NOT call any tools in the next message.");
      }
    }

    private void responseFormat(@Nullable Map<String, Object> format) {
      var type = format == null ? null : format.get("type");
      if ("json_object".equals(type) || "json_schema".equals(type)) {
        var body =
            "The system is invoked with `response_format="
                + type
                + "`.\nYour response must be raw JSON data without markdown code blocks (```json)"
                + " or any additional formatting.";
        system(
            "response-format",
            "json_object".equals(type)
                ? body
                : body
                    + "\nThe JSON data must match the following schema:\n```json\n"
                    + JsonText.compactSorted(schema(format))
                    + "\n```");
      }
    }

    private static @Nullable Object schema(@Nullable Map<String, Object> format) {
      var named = format == null ? null : format.get("json_schema");
      return named instanceof Map<?, ?> map && map.containsKey("schema")
          ? map.get("schema")
          : named;
    }

    private void declare(String heading, List<?> tools) {
      system("tool-declare", heading + "\n\n```json\n" + JsonText.compactSorted(tools) + "\n```");
    }

    private void system(String type, String body) {
      out.open("message", "role", "system", "type", type);
      out.add(body);
      out.endMessage();
    }

    private void messages(List<Map<String, Object>> messages) {
      var results = new KimiK3Results(List.of());
      for (int i = 0; i < messages.size(); i++) {
        var message = messages.get(i);
        switch (role(message)) {
          case "assistant" -> {
            List<?> calls = message.get("tool_calls") instanceof List<?> list ? list : List.of();
            results = new KimiK3Results(calls);
            assistant(message, calls);
          }
          case "tool", "function" -> {
            int end = i + 1;
            while (end < messages.size() && isResult(messages.get(end))) {
              end++;
            }
            for (var result : results.next(messages.subList(i, end))) {
              out.open(
                  "message",
                  "role",
                  "tool",
                  "tool",
                  result.tool(),
                  "index",
                  String.valueOf(result.place()));
              content(result.message().get("content"));
              out.endMessage();
            }
            i = end - 1;
          }
          case "system", "developer" -> {
            if (message.get("tools") instanceof List<?> tools && !tools.isEmpty()) {
              declare(
                  "## New Tools Available\nThe system dynamically extends the toolset via"
                      + " lazy-loading.\nYou have access to all existing and extended tools.\nHere"
                      + " are the specs for the extended tools.",
                  tools);
            } else {
              plain("system", message);
            }
          }
          default -> plain("user", message);
        }
      }
    }

    private static String role(Map<String, Object> message) {
      return String.valueOf(message.get("role"));
    }

    private static boolean isResult(Map<String, Object> message) {
      return role(message).equals("tool") || role(message).equals("function");
    }

    private void plain(String role, Map<String, Object> message) {
      openMessage(role, message);
      content(message.get("content"));
      out.endMessage();
    }

    private void assistant(Map<String, Object> message, List<?> calls) {
      openMessage("assistant", message);
      if (thinks) {
        out.open("think");
        var thought = message.get("reasoning_content");
        if ((thought == null ? message.get("reasoning") : thought) instanceof String text
            && !text.isBlank()) {
          out.add(text);
        }
        out.close("think");
      }
      out.open("response");
      content(message.get("content"));
      out.close("response");
      if (!calls.isEmpty()) {
        out.open("tools");
        for (int i = 0; i < calls.size(); i++) {
          call(PromptMessages.function(calls.get(i)), i + 1);
        }
        out.close("tools");
      }
      out.endMessage();
    }

    private void call(Map<?, ?> function, int index) {
      var name = String.valueOf(function.get("name"));
      out.open("call", "tool", name, "index", String.valueOf(index));
      var given = function.get("arguments");
      var arguments =
          given instanceof String text && !text.isBlank() ? Json.objectOrNull(text) : given;
      if (arguments instanceof Map<?, ?> map) {
        for (var entry : map.entrySet()) {
          var value = entry.getValue();
          out.open("argument", "key", String.valueOf(entry.getKey()), "type", type(value));
          out.add(value instanceof String text ? text : JsonText.spaced(value));
          out.close("argument");
        }
      } else if (given instanceof String text && !text.isBlank()) {
        out.open("json", "type", "object");
        out.add(text);
        out.close("json");
      }
      out.close("call");
    }

    private void content(@Nullable Object content) {
      if (content instanceof String text) {
        out.add(text);
      } else if (content instanceof List<?> parts) {
        for (var part : parts) {
          if (!(part instanceof Map<?, ?> map) || !(map.get("text") instanceof String text)) {
            throw new InvalidRequestException(
                "messages of Kimi K3 take text alone here, but one has a part of the type "
                    + (part instanceof Map<?, ?> map ? map.get("type") : "unknown")
                    + "; leave it out");
          }
          out.add(text);
        }
      }
      out.endContent();
    }

    private void openMessage(String role, Map<String, Object> message) {
      if (message.get("name") instanceof String name && !name.isEmpty()) {
        out.open("message", "role", role, "name", name);
      } else {
        out.open("message", "role", role);
      }
    }
  }

  /** The model's own word, as it must be; or the nearest to the API's, as much at least. */
  private static String effort(Map<String, Object> args) {
    if (args.get("thinking_effort") instanceof String own) {
      if (!EFFORTS.contains(own)) {
        throw new InvalidRequestException(
            "thinking_effort is %s, but Kimi K3 takes one of %s"
                .formatted(
                    own.length() > 32 ? own.substring(0, 32) + "…" : own,
                    String.join(", ", EFFORTS)));
      }
      return own;
    }
    return switch (String.valueOf(args.get("reasoning_effort"))) {
      case "minimal", "low" -> "low";
      case "medium", "high" -> "high";
      default -> "max";
    };
  }

  private static String type(@Nullable Object value) {
    return switch (value) {
      case null -> "null";
      case Boolean _ -> "boolean";
      case Number _ -> "number";
      case String _ -> "string";
      case Map<?, ?> _ -> "object";
      default -> "array";
    };
  }
}
