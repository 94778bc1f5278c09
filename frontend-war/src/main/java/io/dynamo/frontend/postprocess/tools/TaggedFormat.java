package io.dynamo.frontend.postprocess.tools;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How a family writes calls as tags with a parameter in each.
 *
 * @param blockOpen before the calls; empty when a call stands alone
 * @param blockClose after them
 * @param callOpen before a call's name
 * @param nameEnds the markers that end the name; the last {@code unreadNameEnds} of them are not
 *     part of its tag
 * @param callClose after the call
 * @param parameterOpen before a parameter's name
 * @param parameterEnds the markers that end the parameter's opening tag
 * @param valueOpen before the value, when it has a tag of its own
 * @param parameterClose after the value; a {@code %} stands for the parameter's name
 * @param framing markers that mean nothing and are dropped
 * @param bareCalls whether a call without its block is one
 * @param untypedIsText whether the value of a parameter that the schema does not know is text; JSON
 *     where it is JSON otherwise
 * @param linedValues whether a line break around a value is not part of it
 * @param shortId whether ids have the family's own form
 */
record TaggedFormat(
    String blockOpen,
    String blockClose,
    String callOpen,
    List<String> nameEnds,
    int unreadNameEnds,
    String callClose,
    String parameterOpen,
    String parameterEnds,
    @Nullable String valueOpen,
    String parameterClose,
    List<String> framing,
    boolean bareCalls,
    boolean untypedIsText,
    boolean linedValues,
    boolean shortId) {
  static final TaggedFormat QWEN3_CODER =
      new TaggedFormat(
          "<tool_call>",
          "</tool_call>",
          "<function=",
          List.of(">"),
          0,
          "</function>",
          "<parameter=",
          ">",
          null,
          "</parameter>",
          List.of(),
          true,
          true,
          true,
          false);
  static final TaggedFormat MINIMAX_M2 =
      new TaggedFormat(
          "<minimax:tool_call>",
          "</minimax:tool_call>",
          "<invoke name=",
          List.of(">"),
          0,
          "</invoke>",
          "<parameter name=",
          ">",
          null,
          "</parameter>",
          List.of(),
          false,
          false,
          true,
          false);
  static final TaggedFormat MINIMAX_M3 =
      new TaggedFormat(
          "]<]minimax[>[<tool_call>",
          "]<]minimax[>[</tool_call>",
          "]<]minimax[>[<invoke name=",
          List.of(">"),
          0,
          "]<]minimax[>[</invoke>",
          "]<]minimax[>[<",
          ">",
          null,
          "]<]minimax[>[</%>",
          List.of(),
          false,
          false,
          false,
          false);
  static final TaggedFormat GLM_47 =
      new TaggedFormat(
          "",
          "",
          "<tool_call>",
          List.of("<arg_key>", "</tool_call>"),
          2,
          "</tool_call>",
          "<arg_key>",
          "</arg_key>",
          "<arg_value>",
          "</arg_value>",
          List.of(),
          false,
          false,
          false,
          false);
  static final TaggedFormat MUSE =
      new TaggedFormat(
          "<atem:function_calls>",
          "</atem:function_calls>",
          "<atem:invoke name=",
          List.of(">"),
          0,
          "</atem:invoke>",
          "<atem:parameter name=",
          ">",
          null,
          "</atem:parameter>",
          List.of(),
          true,
          false,
          false,
          false);
  static final TaggedFormat DEEPSEEK_V3_2 = dsml("function_calls");
  static final TaggedFormat DEEPSEEK_V4 = dsml("tool_calls");
  static final String JSON_CLOSE = "<|close|>json<|sep|>";
  private static final String JSON_OPEN = "<|open|>json type=\"object\"<|sep|>";
  static final TaggedFormat KIMI_K3 =
      new TaggedFormat(
          "<|open|>tools<|sep|>",
          "<|close|>tools<|sep|>",
          "<|open|>call tool=",
          List.of("<|sep|>"),
          0,
          "<|close|>call<|sep|>",
          "<|open|>argument key=",
          "<|sep|>",
          null,
          "<|close|>argument<|sep|>",
          List.of(
              "<|open|>response<|sep|>",
              "<|close|>response<|sep|>",
              "<|close|>message<|sep|>",
              "<|end_of_msg|>"),
          false,
          false,
          false,
          false);

  /**
   * The marks between the parameters of a call: the next one, the end of the call, and with blocks
   * the next call and the end of the block. Kimi K3 has one before arguments that come as one JSON
   * text, up to {@link #JSON_CLOSE}.
   */
  List<String> inCall() {
    var marks = new ArrayList<>(List.of(parameterOpen, callClose));
    if (!blockClose.isEmpty()) {
      marks.addAll(List.of(callOpen, blockClose));
    }
    if (equals(KIMI_K3)) {
      marks.add(JSON_OPEN);
    }
    return marks;
  }

  /** The tag at the beginning of {@code head}; Kimi K3 escapes names as XML does. */
  Tag tag(String head) {
    var tag = Tag.of(head);
    return equals(KIMI_K3)
        ? new Tag(tag.name().replace("&quot;", "\"").replace("&amp;", "&"), tag.isText())
        : tag;
  }

  private static TaggedFormat dsml(String block) {
    return new TaggedFormat(
        "<｜DSML｜" + block + ">",
        "</｜DSML｜" + block + ">",
        "<｜DSML｜invoke name=",
        List.of(">"),
        0,
        "</｜DSML｜invoke>",
        "<｜DSML｜parameter name=",
        ">",
        null,
        "</｜DSML｜parameter>",
        List.of(),
        true,
        false,
        false,
        true);
  }
}
