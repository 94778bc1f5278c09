package io.dynamo.frontend.postprocess.tools;

import java.util.List;

/**
 * How a family writes calls as JSON objects with a name and arguments, alone or in an array.
 *
 * @param opens markers before the JSON
 * @param closes marker after it, for each of {@code opens}; empty when there is none
 * @param bare whether a message that begins with the JSON needs no marker
 * @param headed whether the name may stand before the arguments instead: {@code name[ARGS]{…}}
 * @param nameOnly whether an object without arguments is a call
 */
record JsonFormat(
    List<String> opens, List<String> closes, boolean bare, boolean headed, boolean nameOnly) {
  static final JsonFormat HERMES = marked("<tool_call>", "</tool_call>", true);
  static final JsonFormat NEMOTRON = marked("<TOOLCALL>", "</TOOLCALL>", false);
  static final JsonFormat JAMBA = marked("<tool_calls>", "</tool_calls>", false);
  static final JsonFormat PHI = marked("functools", "", false);
  static final JsonFormat LLAMA =
      new JsonFormat(List.of("<|python_tag|>"), List.of(""), true, false, false);
  static final JsonFormat MISTRAL =
      new JsonFormat(List.of("[TOOL_CALLS]"), List.of("[/TOOL_CALLS]"), false, true, false);
  static final JsonFormat DEFAULT =
      new JsonFormat(
          List.of("<TOOLCALL>", "<|python_tag|>"), List.of("</TOOLCALL>", ""), false, false, false);

  /** An array of calls without a marker, as guided decoding gives it. */
  static final JsonFormat GUIDED = new JsonFormat(List.of(), List.of(), true, false, false);

  private static JsonFormat marked(String open, String close, boolean nameOnly) {
    return new JsonFormat(List.of(open), List.of(close), false, false, nameOnly);
  }
}
