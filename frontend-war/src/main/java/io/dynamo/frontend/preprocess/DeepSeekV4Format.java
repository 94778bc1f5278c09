package io.dynamo.frontend.preprocess;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.frontend.preprocess.jinja.JinjaException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * The prompts of DeepSeek V4, which has no chat template: results of tools are parts of the user's
 * turn, and earlier thoughts are kept where there are tools. Stateless.
 */
final class DeepSeekV4Format implements PromptFormat {
  private static final String TOOLS =
      """
      ## Tools

      You have access to a set of tools to help answer the user's question. You can invoke tools by writing a "<｜DSML｜tool_calls>" block like the following:

      <｜DSML｜tool_calls>
      <｜DSML｜invoke name="$TOOL_NAME">
      <｜DSML｜parameter name="$PARAMETER_NAME" string="true|false">$PARAMETER_VALUE</｜DSML｜parameter>
      ...
      </｜DSML｜invoke>
      <｜DSML｜invoke name="$TOOL_NAME2">
      ...
      </｜DSML｜invoke>
      </｜DSML｜tool_calls>

      String parameters should be specified as is and set `string="true"`. For all other types (numbers, booleans, arrays, objects), pass the value in JSON format and set `string="false"`.

      If thinking_mode is enabled (triggered by <think>), you MUST output your complete reasoning inside <think>...</think> BEFORE any tool calls or final response.

      Otherwise, output directly after </think> with tool calls or final response.

      ### Available Tool Schemas

      ｛schemas｝

      You MUST strictly follow the above defined tool name and parameter schemas to invoke tool calls.
      """;
  private static final String HIGH_EFFORT =
      """
      Reasoning Effort: Absolute maximum with no shortcuts permitted.
      You MUST be very thorough in your thinking and comprehensively decompose the problem to resolve the root cause, rigorously stress-testing your logic against all potential paths, edge cases, and adversarial scenarios.
      Explicitly write out your entire deliberation process, documenting every intermediate step, considered alternative, and rejected hypothesis to ensure absolutely no assumption is left unchecked.

      """;
  private static final Pattern NAME =
      Pattern.compile("^deepseek[-_.]?v4(?:[-_.]|$)", Pattern.CASE_INSENSITIVE);
  private static final String MAX_EFFORT =
      """
      Reasoning Effort: Beyond maximum — exhaustive, relentless, and uncompromising.
      You MUST reason with the utmost depth and rigor, leaving absolutely nothing to chance: exhaustively decompose the problem into its most fundamental components, trace every causal chain to its root, and resolve the underlying cause rather than any surface symptom.
      Do not stop reasoning until you have independently verified the solution from multiple angles and are certain that no assumption remains unchecked and no error remains undiscovered.

      """;

  /** Whether a parsed {@code config.json} is that of the model. */
  static boolean isOf(Map<?, ?> config) {
    return "deepseek_v4".equals(config.get("model_type"));
  }

  /** Whether a name that clients use is that of the model, as Dynamo reads it. */
  static boolean isNamed(String name) {
    return NAME.matcher(name.substring(name.lastIndexOf('/') + 1)).find();
  }

  @Override
  public PromptText render(ChatPrompt prompt) {
    try {
      return PromptText.whole(
          new Writing(turns(DeepSeekPrompt.messages(prompt)), prompt.templateArgs()).text());
    } catch (JinjaException e) { // of a JSON value
      throw new InvalidRequestException(String.valueOf(e.getMessage()));
    }
  }

  /** The messages with neighbours of users and tools as one of a user. */
  private static List<Map<String, Object>> turns(List<Map<String, Object>> messages) {
    var turns = new ArrayList<Map<String, Object>>();
    Map<String, Integer> places = Map.of(); // of the calls of the last assistant with any
    int next;
    for (int i = 0; i < messages.size(); i = next) {
      var message = messages.get(i);
      next = i + 1;
      if (!isPart(message)) {
        turns.add(message);
        var own = DeepSeekPrompt.calls(message);
        if (!own.isEmpty() && DeepSeekPrompt.role(message).equals("assistant")) {
          places = DeepSeekPrompt.places(own);
        }
        continue;
      }
      while (next < messages.size() && isPart(messages.get(next))) {
        next++;
      }
      var turn = new LinkedHashMap<String, Object>();
      turn.put("role", "user");
      turn.put("content", userTurn(messages.subList(i, next), places));
      turns.add(turn);
    }
    return turns;
  }

  private static boolean isPart(Map<String, Object> message) {
    var role = DeepSeekPrompt.role(message);
    return role.equals("user") || role.equals("tool");
  }

  private static String userTurn(List<Map<String, Object>> messages, Map<String, Integer> places) {
    var results =
        DeepSeekPrompt.inOrder(
                messages.stream()
                    .filter(message -> DeepSeekPrompt.role(message).equals("tool"))
                    .toList(),
                places)
            .iterator();
    var texts = new ArrayList<String>();
    for (var message : messages) {
      texts.add(
          DeepSeekPrompt.role(message).equals("tool")
              ? "<tool_result>" + DeepSeekPrompt.text(results.next()) + "</tool_result>"
              : DeepSeekPrompt.text(message));
    }
    return String.join("\n\n", texts);
  }

  /** One prompt while it is written. */
  private static final class Writing {
    private final StringBuilder out = new StringBuilder(DeepSeekPrompt.START);
    private final List<Map<String, Object>> turns;
    private final boolean thinks;
    private final boolean drops;
    private final boolean asks;
    private final int lastUser;

    private Writing(List<Map<String, Object>> all, Map<String, Object> args) {
      thinks = DeepSeekPrompt.thinks(args);
      asks = DeepSeekPrompt.asksForAnswer(args);
      drops =
          !Boolean.FALSE.equals(args.get("drop_thinking"))
              && all.stream().allMatch(turn -> DeepSeekPrompt.tools(turn).isEmpty());
      turns = thinks && drops ? withoutEarlierDevelopers(all) : all;
      lastUser = DeepSeekPrompt.lastUser(turns);
      if (thinks && !turns.isEmpty()) {
        out.append(effort(args));
      }
    }

    private static List<Map<String, Object>> withoutEarlierDevelopers(
        List<Map<String, Object>> turns) {
      int last = DeepSeekPrompt.lastUser(turns);
      var kept = new ArrayList<Map<String, Object>>();
      for (int i = 0; i < turns.size(); i++) {
        if (i >= last || !DeepSeekPrompt.role(turns.get(i)).equals("developer")) {
          kept.add(turns.get(i));
        }
      }
      return kept;
    }

    private static String effort(Map<String, Object> args) {
      return switch (String.valueOf(args.get("reasoning_effort"))) {
        case "low", "minimal", "medium" -> "";
        case "max" -> MAX_EFFORT;
        default -> HIGH_EFFORT;
      };
    }

    private String text() {
      for (int i = 0; i < turns.size(); i++) {
        var turn = turns.get(i);
        switch (DeepSeekPrompt.role(turn)) {
          case "system" -> {
            out.append(DeepSeekPrompt.text(turn)).append(DeepSeekPrompt.declared(turn, TOOLS));
            opening(i);
          }
          case "developer" -> {
            out.append(DeepSeekPrompt.USER)
                .append(DeepSeekPrompt.developerText(turn))
                .append(DeepSeekPrompt.declared(turn, TOOLS));
            opening(i);
          }
          case "user" -> {
            out.append(DeepSeekPrompt.USER).append(DeepSeekPrompt.text(turn));
            opening(i);
          }
          case "assistant" -> assistant(turn, i);
          default -> throw DeepSeekPrompt.unknownRole(turn);
        }
      }
      return out.toString();
    }

    private void assistant(Map<String, Object> turn, int at) {
      if (thinks && (!drops || at > lastUser)) {
        out.append(DeepSeekPrompt.reasoning(turn)).append(DeepSeekPrompt.THOUGHT);
      }
      out.append(DeepSeekPrompt.text(turn))
          .append(DeepSeekPrompt.written(DeepSeekPrompt.calls(turn), "tool_calls"))
          .append(DeepSeekPrompt.END);
    }

    /** Opens the assistant's turn behind {@code at}: where it comes next, or is to be written. */
    private void opening(int at) {
      boolean opens =
          at + 1 < turns.size() ? DeepSeekPrompt.role(turns.get(at + 1)).equals("assistant") : asks;
      if (opens) {
        out.append(DeepSeekPrompt.ASSISTANT)
            .append(
                thinks && (!drops || at >= lastUser)
                    ? DeepSeekPrompt.THINK
                    : DeepSeekPrompt.THOUGHT);
      }
    }
  }
}
