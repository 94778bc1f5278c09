package io.dynamo.worker.wiring;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Recognises from a chat template how a model's family writes tool calls and thoughts, by marks
 * that no other family has; a template with the marks of two families is not recognised.
 */
final class TemplateFamily {
  /**
   * A form of writing.
   *
   * @param parser the name of its parser
   * @param marks all of them are in the template
   * @param others none of them is
   */
  private record Form(String parser, List<String> marks, List<String> others) {
    boolean isOf(String template) {
      return marks.stream().allMatch(template::contains)
          && others.stream().noneMatch(template::contains);
    }
  }

  private static final List<Form> CALLS =
      List.of(
          new Form(
              "hermes",
              List.of("<tool_call>", "arguments"),
              List.of("<function=", "<parameter=", "<arg_key>")),
          new Form(
              "qwen3_coder",
              List.of("<tool_call>", "<function=", "<parameter="),
              List.of("<arg_key>")),
          new Form(
              "glm47", List.of("<tool_call>", "<arg_key>", "<arg_value>"), List.of("<function=")),
          new Form("mistral", List.of("[TOOL_CALLS]"), List.of("<tool_call>")),
          new Form(
              "llama3_json",
              List.of("<|python_tag|>", "<|eot_id|>", "\"parameters\""),
              List.of("<|python_start|>")),
          new Form(
              "deepseek_v3",
              List.of("<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "```json"),
              List.of("｜DSML｜")),
          new Form(
              "deepseek_v3_1",
              List.of("<｜tool▁call▁begin｜>", "<｜tool▁sep｜>"),
              List.of("｜DSML｜", "```json")),
          new Form(
              "harmony",
              List.of("<|channel|>", "<|call|>", "<|message|>", "functions."),
              List.of()),
          new Form(
              "kimi_k2", List.of("<|tool_call_begin|>", "<|tool_call_argument_begin|>"), List.of()),
          new Form("minimax_m2", List.of("<minimax:tool_call>", "<invoke name="), List.of()));

  private static final List<Form> THOUGHTS =
      List.of(
          new Form(
              "qwen3",
              List.of("<think>", "</think>"),
              List.of( // of families that think before any mark, or by their settings
                  "[THINK]",
                  "<mm:think>",
                  "<｜Assistant｜>",
                  "<｜tool▁sep｜>",
                  "<minimax:tool_call>",
                  "]~b]")),
          new Form("mistral", List.of("[THINK]", "[/THINK]"), List.of("<think>")),
          new Form("kimi", List.of("◁think▷", "◁/think▷"), List.of("<think>")),
          new Form("gpt_oss", List.of("<|channel|>analysis", "<|message|>"), List.of("<think>")),
          new Form(
              "granite",
              List.of("Here is my thought process:", "Here is my response:"),
              List.of("<think>")));

  private TemplateFamily() {}

  /** Returns the name of the parser for tool calls; null where the template does not show it. */
  static @Nullable String toolCalls(String template) {
    return only(CALLS, template);
  }

  /** Returns the name of the parser for thoughts; null where the template does not show it. */
  static @Nullable String reasoning(String template) {
    return only(THOUGHTS, template);
  }

  private static @Nullable String only(List<Form> forms, String template) {
    var found = forms.stream().filter(form -> form.isOf(template)).toList();
    return found.size() == 1 ? found.getFirst().parser() : null;
  }
}
