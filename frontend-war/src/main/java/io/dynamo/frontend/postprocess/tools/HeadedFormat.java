package io.dynamo.frontend.postprocess.tools;

import java.util.List;

/**
 * How a family writes calls as a name and a JSON object between markers, calls together in a
 * section.
 *
 * @param sectionOpens markers before the calls
 * @param sectionCloses markers after them
 * @param callOpen before each call
 * @param argumentsOpen between the name and the arguments
 * @param callClose after each call
 * @param head the form of the text between {@code callOpen} and {@code argumentsOpen}
 * @param compact whether the arguments lose the space between their parts
 */
record HeadedFormat(
    List<String> sectionOpens,
    List<String> sectionCloses,
    String callOpen,
    String argumentsOpen,
    String callClose,
    Head head,
    boolean compact) {
  enum Head {
    /** The name. */
    NAME,
    /** A type; the name stands after it on a line of its own, and the arguments in a fence. */
    TYPE,
    /** {@code functions.name:number}, which is also the call's id. */
    ID
  }

  static final HeadedFormat DEEPSEEK_V3 = deepSeek(Head.TYPE);
  static final HeadedFormat DEEPSEEK_V3_1 = deepSeek(Head.NAME);
  static final HeadedFormat KIMI_K2 =
      new HeadedFormat(
          List.of("<|tool_calls_section_begin|>", "<|tool_call_section_begin|>"),
          List.of("<|tool_calls_section_end|>", "<|tool_call_section_end|>"),
          "<|tool_call_begin|>",
          "<|tool_call_argument_begin|>",
          "<|tool_call_end|>",
          Head.ID,
          false);

  private static HeadedFormat deepSeek(Head head) {
    return new HeadedFormat(
        List.of("<｜tool▁calls▁begin｜>"),
        List.of("<｜tool▁calls▁end｜>"),
        "<｜tool▁call▁begin｜>",
        "<｜tool▁sep｜>",
        "<｜tool▁call▁end｜>",
        head,
        true);
  }
}
