package io.dynamo.frontend.preprocess;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.frontend.preprocess.jinja.JinjaException;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The prompts of DeepSeek V3.2, which has no chat template: results of tools are a group of their
 * own, and thoughts are kept since the user's last message. Stateless.
 */
final class DeepSeekV32Format implements PromptFormat {
  private static final String TOOLS =
      """
      ## Tools

      You have access to a set of tools you can use to answer the user's question.
      You can invoke functions by writing a "<｜DSML｜function_calls>" block like the following as part of your reply to the user:
      <｜DSML｜function_calls>
      <｜DSML｜invoke name="$FUNCTION_NAME">
      <｜DSML｜parameter name="$PARAMETER_NAME" string="true|false">$PARAMETER_VALUE</｜DSML｜parameter>
      ...
      </｜DSML｜invoke>
      <｜DSML｜invoke name="$FUNCTION_NAME2">
      ...
      </｜DSML｜invoke>
      </｜DSML｜function_calls>

      String and scalar parameters should be specified as is without any escaping or quotes, while lists and objects should use JSON format. The "string" attribute should be set to "true" for string type parameters and "false" for other types (numbers, booleans, arrays, objects).

      If the thinking_mode is enabled, then after function results you should strongly consider outputting a thinking block. Here is an example:

      <｜DSML｜function_calls>
      ...
      </｜DSML｜function_calls>

      <function_results>
      ...
      </function_results>

      <think>...thinking about results</think>

      Here are the functions available in JSONSchema format:
      <functions>
      ｛schemas｝
      </functions>
      """;

  /** Whether a parsed {@code config.json} is that of the model. */
  static boolean isOf(Map<?, ?> config) {
    return config.get("model_type") instanceof String type
        && (type.equals("deepseek_v32") || type.equals("deepseek_v3_2"));
  }

  /** Whether a name that clients use is that of the model, as Dynamo reads it. */
  static boolean isNamed(String name) {
    var lower = name.toLowerCase(Locale.ROOT);
    return lower.contains("deepseek") && lower.contains("v3.2") && !lower.contains("exp");
  }

  @Override
  public PromptText render(ChatPrompt prompt) {
    try {
      return PromptText.whole(
          new Writing(DeepSeekPrompt.messages(prompt), prompt.templateArgs()).text());
    } catch (JinjaException e) { // of a JSON value
      throw new InvalidRequestException(String.valueOf(e.getMessage()));
    }
  }

  /** One prompt while it is written. */
  private static final class Writing {
    private final StringBuilder out = new StringBuilder(DeepSeekPrompt.START);
    private final List<Map<String, Object>> messages;
    private final int lastUser;
    private final boolean thinks;
    private final boolean asks;

    private Writing(List<Map<String, Object>> messages, Map<String, Object> args) {
      this.messages = messages;
      lastUser = DeepSeekPrompt.lastUser(messages);
      thinks = DeepSeekPrompt.thinks(args);
      asks = DeepSeekPrompt.asksForAnswer(args);
    }

    private String text() {
      List<?> calls = List.of(); // not answered yet
      int next;
      for (int i = 0; i < messages.size(); i = next) {
        var message = messages.get(i);
        next = i + 1;
        var role = DeepSeekPrompt.role(message);
        if (role.equals("tool")) {
          while (next < messages.size() && DeepSeekPrompt.role(messages.get(next)).equals("tool")) {
            next++;
          }
          results(messages.subList(i, next), calls);
          opening("\n\n", next, next > lastUser);
          calls = List.of();
          continue;
        }
        switch (role) {
          case "system" ->
              out.append(DeepSeekPrompt.text(message))
                  .append(DeepSeekPrompt.declared(message, TOOLS));
          case "user", "developer" -> {
            user(message, role.equals("developer"));
            opening(DeepSeekPrompt.ASSISTANT, next, i == lastUser);
          }
          case "assistant" -> {
            calls = DeepSeekPrompt.calls(message);
            assistant(message, calls, i > lastUser);
          }
          default -> throw DeepSeekPrompt.unknownRole(message);
        }
      }
      return out.toString();
    }

    private void user(Map<String, Object> message, boolean developer) {
      out.append(DeepSeekPrompt.USER);
      if (developer) {
        out.append(DeepSeekPrompt.declared(message, TOOLS))
            .append("\n\n# The user's message is: ")
            .append(DeepSeekPrompt.developerText(message));
      } else {
        out.append(DeepSeekPrompt.text(message));
      }
    }

    private void assistant(Map<String, Object> message, List<?> calls, boolean afterUser) {
      if (thinks && afterUser) {
        out.append(DeepSeekPrompt.reasoning(message)).append(DeepSeekPrompt.THOUGHT);
      }
      out.append(DeepSeekPrompt.text(message))
          .append(DeepSeekPrompt.written(calls, "function_calls"))
          .append(DeepSeekPrompt.END);
    }

    private void results(List<Map<String, Object>> results, List<?> calls) {
      if (results.size() > calls.size()) {
        throw new InvalidRequestException(
            "%d messages of the role tool follow an assistant's message with %d tool calls; each must answer one"
                .formatted(results.size(), calls.size()));
      }
      out.append("\n\n<function_results>");
      for (var result : DeepSeekPrompt.inOrder(results, DeepSeekPrompt.places(calls))) {
        out.append("\n<result>").append(DeepSeekPrompt.text(result)).append("</result>");
      }
      out.append("\n</function_results>");
    }

    /** Opens the assistant's turn, the one to be written only when the request asks for it. */
    private void opening(String head, int next, boolean last) {
      if (asks || next < messages.size()) {
        out.append(head).append(thinks && last ? DeepSeekPrompt.THINK : DeepSeekPrompt.THOUGHT);
      }
    }
  }
}
