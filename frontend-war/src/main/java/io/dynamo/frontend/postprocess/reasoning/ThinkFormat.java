package io.dynamo.frontend.postprocess.reasoning;

import java.util.List;

/**
 * How a family marks its thoughts.
 *
 * @param opens markers before a thought
 * @param closes markers after it
 * @param toolOpens markers of tool calls that end a thought as well; they are not part of it
 * @param startsInside whether a message begins within a thought
 */
record ThinkFormat(
    List<String> opens, List<String> closes, List<String> toolOpens, boolean startsInside) {
  static final ThinkFormat THINK = of("<think>", "</think>", false);
  static final ThinkFormat THINK_FIRST = of("<think>", "</think>", true);
  static final ThinkFormat DEEPSEEK_V4 = THINK.endedBy("<｜DSML｜tool_calls>", "<｜DSML｜invoke name=");
  static final ThinkFormat KIMI = of("◁think▷", "◁/think▷", false);
  static final ThinkFormat KIMI_K25 =
      THINK_FIRST.endedBy("<|tool_calls_section_begin|>", "<|tool_call_section_begin|>");
  static final ThinkFormat KIMI_K3 =
      of("<|open|>think<|sep|>", "<|close|>think<|sep|>", false)
          .endedBy("<|open|>", "<|close|>", "<|end_of_msg|>");
  static final ThinkFormat MINIMAX_M2 = THINK_FIRST.endedBy("<minimax:tool_call>", "<invoke name=");
  static final ThinkFormat MINIMAX_M3 =
      of("<mm:think>", "</mm:think>", false).endedBy("]<]minimax[>[<tool_call>");
  static final ThinkFormat MISTRAL = of("[THINK]", "[/THINK]", true);
  static final ThinkFormat GEMMA =
      new ThinkFormat(
          List.of("<|channel>thought\n", "<|channel>"), List.of("<channel|>"), List.of(), false);
  static final ThinkFormat GRANITE =
      new ThinkFormat(
          List.of("Here's my thought process:", "Here is my thought process:"),
          List.of("Here's my response:", "Here is my response:"),
          List.of(),
          false);

  private static ThinkFormat of(String open, String close, boolean startsInside) {
    return new ThinkFormat(List.of(open), List.of(close), List.of(), startsInside);
  }

  private ThinkFormat endedBy(String... toolOpens) {
    return new ThinkFormat(opens, closes, List.of(toolOpens), startsInside);
  }
}
