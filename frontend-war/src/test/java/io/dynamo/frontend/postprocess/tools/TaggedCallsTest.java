package io.dynamo.frontend.postprocess.tools;

import static io.dynamo.frontend.postprocess.message.JoinedMessage.content;
import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.frontend.postprocess.message.JoinedMessage;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class TaggedCallsTest {
  private static final ToolSchemas SCHEMAS =
      ToolSchemas.of(
          List.of(
              Map.of(
                  "type",
                  "function",
                  "function",
                  Map.of(
                      "name",
                      "f",
                      "parameters",
                      Map.of(
                          "type",
                          "object",
                          "properties",
                          Map.of(
                              "s", Map.of("type", "string"),
                              "i", Map.of("type", "integer"),
                              "n", Map.of("type", "number"),
                              "b", Map.of("type", "boolean"),
                              "o", Map.of("type", "object"),
                              "l", Map.of("type", "array"),
                              "u", Map.of("type", List.of("integer", "null")),
                              "a",
                                  Map.of(
                                      "anyOf",
                                      List.of(
                                          Map.of("type", "integer"),
                                          Map.of("type", "string")))))))));

  private static JoinedMessage parse(TaggedFormat format, String text) {
    return JoinedMessage.atEveryCut(() -> new TaggedCalls(format, SCHEMAS), text);
  }

  private static JoinedMessage qwen(String text) {
    return parse(TaggedFormat.QWEN3_CODER, text);
  }

  private static String qwenCall(String key, String value) {
    return "<tool_call>\n<function=f>\n<parameter=%s>\n%s\n</parameter>\n</function>\n</tool_call>"
        .formatted(key, value);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          s       | Paris          | "Paris"
          s       | 3              | "3"
          s       | {"a": 1}       | "{\\"a\\": 1}"
          i       | 3              | 3
          i       | three          | "three"
          i       | 3.5            | "3.5"
          n       | 3.5            | 3.5
          b       | True           | true
          b       | FALSE          | false
          b       | yes            | "yes"
          o       | { "a": [1, 2]} | {"a":[1,2]}
          o       | [1]            | "[1]"
          l       | [1, "x y"]     | [1,"x y"]
          u       | null           | null
          u       | 7              | 7
          a       | 7              | 7
          a       | seven          | "seven"
          unknown | 7              | "7"
          """)
  void valuesHaveTheTypesOfTheSchema(String key, String written, String json) {
    assertThat(qwen(qwenCall(key, written)))
        .isEqualTo(content("").call("f", "{\"" + key + "\":" + json + "}"));
  }

  @Test
  void callsBetweenTextAreFound() {
    assertThat(
            qwen(
                "Ok "
                    + "<tool_call>\n<function=f>\n<parameter=s>\nParis\n</parameter>\n"
                    + "<parameter=i>\n3\n</parameter>\n</function>\n</tool_call>"
                    + "\n<tool_call><function=g></function></tool_call> end"))
        .isEqualTo(content("Ok \n end").call("f", "{\"s\":\"Paris\",\"i\":3}").call("g", "{}"));
  }

  @Test
  void textValuesKeepTheirLinesAndMarks() {
    assertThat(qwen(qwenCall("s", "a\n\n\"b\" \\ <b>ü😀</b>\n </function>\n")))
        .isEqualTo(
            content("")
                .call("f", "{\"s\":\"a\\n\\n\\\"b\\\" \\\\ <b>ü😀</b>\\n </function>\\n\"}"));
  }

  @Test
  void aCallNeedsNoBlockAndMissingEndsAreForgiven() {
    assertThat(qwen("<function=f><parameter=i>1</parameter></function>"))
        .isEqualTo(content("").call("f", "{\"i\":1}"));
    assertThat(qwen("<tool_call><function=f><parameter=i>1</parameter></tool_call>!"))
        .isEqualTo(content("!").call("f", "{\"i\":1}"));
    assertThat(qwen("<tool_call><function=f><function=g></function></tool_call>"))
        .isEqualTo(content("").call("f", "{}").call("g", "{}"));
    assertThat(qwen("ok</tool_call></function>")).isEqualTo(content("ok"));
  }

  @Test
  void callsThatAreCutOffAreClosed() {
    var begun = "<tool_call>\n<function=f>\n<parameter=";
    assertThat(qwen(begun + "s>\nPar")).isEqualTo(content("").call("f", "{\"s\":\"Par\"}"));
    assertThat(qwen(begun + "s>\nParis\n</param"))
        .isEqualTo(content("").call("f", "{\"s\":\"Paris\"}"));
    assertThat(qwen(begun + "o>\n{\"a\": [1"))
        .isEqualTo(content("").call("f", "{\"o\":{\"a\":[1]}}"));
    assertThat(qwen(begun + "i>\n3\n</parameter>\n<parameter=s"))
        .isEqualTo(content("").call("f", "{\"i\":3}"));
    assertThat(qwen(begun + "i>")).isEqualTo(content("").call("f", "{}"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "<tool_call>",
        "<tool_call>\n<function=f",
        "<tool_call>\n<function=f>",
        "<tool_call></tool_call> x",
        "<tool_call>nothing</tool_call> x",
        "<tool_call><function=></function></tool_call>",
        "<tool_call><function=f>nothing</function></tool_call>",
        "a <tool_cal",
        "a < b <fun"
      })
  void textThatIsNoCallBecomesContent(String text) {
    assertThat(qwen(text)).isEqualTo(content(text));
  }

  @Test
  void textBehindAParameterEndsTheCall() {
    assertThat(qwen("<tool_call><function=f><parameter=i>1</parameter>oh</function></tool_call>!"))
        .isEqualTo(content("oh!").call("f", "{\"i\":1}"));
  }

  @Test
  void glmsKeysAndValuesAreRead() {
    assertThat(
            parse(
                TaggedFormat.GLM_47,
                "Ok\n<tool_call>f\n<arg_key>s</arg_key>\n<arg_value>1 </arg_value>\n"
                    + "<arg_key>i</arg_key>\n<arg_value>1</arg_value>\n"
                    + "<arg_key>other</arg_key><arg_value>{\"x\": 1}</arg_value></tool_call>"
                    + "<tool_call>g</tool_call>"))
        .isEqualTo(
            content("Ok\n")
                .call("f", "{\"s\":\"1 \",\"i\":1,\"other\":{\"x\":1}}")
                .call("g", "{}"));
    assertThat(parse(TaggedFormat.GLM_47, "<tool_call>f<arg_key>s</arg_key><arg_value>Pa"))
        .isEqualTo(content("").call("f", "{\"s\":\"Pa\"}"));
    assertThat(parse(TaggedFormat.GLM_47, "<tool_call>f<arg"))
        .isEqualTo(content("<tool_call>f<arg"));
  }

  @Test
  void minimaxTagsAreRead() {
    assertThat(
            parse(
                TaggedFormat.MINIMAX_M2,
                """
                a<minimax:tool_call>
                <invoke name="f">
                <parameter name="s">x</parameter>
                <parameter name="l">[1, 2]</parameter>
                </invoke>
                <invoke name="g"></invoke>
                </minimax:tool_call>b"""))
        .isEqualTo(content("ab").call("f", "{\"s\":\"x\",\"l\":[1,2]}").call("g", "{}"));
  }

  @Test
  void minimaxNamespaceIsRead() {
    var text =
        "a~<tool_call>\n~<invoke name=\"f\">~<s>字节 <b>x</b>~</s>~<i>6~</i>~</invoke>\n~</tool_call>b";
    assertThat(parse(TaggedFormat.MINIMAX_M3, text.replace("~", "]<]minimax[>[")))
        .isEqualTo(content("ab").call("f", "{\"s\":\"字节 <b>x</b>\",\"i\":6}"));
  }

  @Test
  void dsmlMarksTextValues() {
    var text =
        "Ok\n\n<|function_calls>\n<|invoke name=\"f\">\n<|parameter name=\"i\" string=\"true\">1"
            + "</|parameter>\n<|parameter name=\"s\" string=\"false\">[1, 2]</|parameter>\n"
            + "</|invoke>\n</|function_calls>";
    var expected = content("Ok\n\n").call("f", "{\"i\":\"1\",\"s\":[1,2]}");
    assertThat(parse(TaggedFormat.DEEPSEEK_V3_2, text.replace("|", "｜DSML｜"))).isEqualTo(expected);
    assertThat(
            parse(
                TaggedFormat.DEEPSEEK_V4,
                text.replace("function_calls", "tool_calls").replace("|", "｜DSML｜")))
        .isEqualTo(expected);
  }

  @Test
  void kimisChannelsAreUnwrapped() {
    assertThat(
            parse(
                TaggedFormat.KIMI_K3,
                "<|open|>response<|sep|>Sure.<|close|>response<|sep|><|open|>tools<|sep|>"
                    + "<|open|>call tool=\"f\" index=\"1\"<|sep|>"
                    + "<|open|>argument key=\"s\" type=\"string\"<|sep|>Rome<|close|>argument<|sep|>"
                    + "<|open|>argument key=\"n\" type=\"number\"<|sep|>1e2<|close|>argument<|sep|>"
                    + "<|close|>call<|sep|><|close|>tools<|sep|><|close|>message<|sep|>"
                    + "<|end_of_msg|>"))
        .isEqualTo(content("Sure.").call("f", "{\"s\":\"Rome\",\"n\":1e2}"));
  }

  @Test
  void kimisNamesAreEscapedAndItsTypesAreThoseOfTheTag() {
    assertThat(
            parse(
                TaggedFormat.KIMI_K3,
                "<|open|>response<|sep|><|close|>response<|sep|><|open|>tools<|sep|>"
                    + "<|open|>call tool=\"g\" index=\"1\"<|sep|>"
                    + "<|open|>argument key=\"a &quot;b&quot; &amp;amp; c\" type=\"string\"<|sep|>7<"
                    + "<|close|>argument<|sep|>"
                    + "<|open|>argument key=\"l\" type=\"array\"<|sep|>[1, \"x\"]<|close|>argument<|sep|>"
                    + "<|close|>call<|sep|><|open|>call tool=\"h\" index=\"2\"<|sep|><|close|>call<|sep|>"
                    + "<|close|>tools<|sep|><|close|>message<|sep|>"))
        .isEqualTo(
            content("")
                .call("g", "{\"a \\\"b\\\" &amp; c\":\"7<\",\"l\":[1,\"x\"]}")
                .call("h", "{}"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '¦',
      quoteCharacter = '~',
      value = {
        "{\"a\": [1]}<|close|>json<|sep|><|close|>call<|sep|><|close|>tools<|sep|> ¦ {\"a\":[1]}",
        "not json<|close|>json<|sep|><|close|>call<|sep|><|close|>tools<|sep|> ¦ not json",
        "{\"a\": [1 ¦ {\"a\":[1]}",
        " <|close|>json<|sep|><|close|>call<|sep|><|close|>tools<|sep|> ¦ {}",
      })
  void kimisArgumentsMayBeOneText(String text, String arguments) {
    assertThat(
            parse(
                TaggedFormat.KIMI_K3,
                "<|open|>tools<|sep|><|open|>call tool=\"f\" index=\"1\"<|sep|>"
                    + "<|open|>json type=\"object\"<|sep|>"
                    + text))
        .isEqualTo(content("").call("f", arguments));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '¦',
      value = {
        "<|open|>json type=\"object\"<|sep|>{\"a\":1} ¦ <|close|>json<|sep|> ¦ {\"a\":1}",
        "<|open|>argument key=\"n\" type=\"number\"<|sep|>2 ¦ <|close|>argument<|sep|> ¦ {\"n\":2}",
        "<|open|>argument key=\"s\" type=\"string\"<|sep|>Rome ¦ <|close|>argument<|sep|> ¦ {\"s\":\"Rome\"}",
      })
  void noPartOfACutEndMarkerIsInTheArguments(String begin, String marker, String arguments) {
    for (int cut = 0; cut <= marker.length(); cut++) {
      assertThat(
              parse(
                  TaggedFormat.KIMI_K3,
                  "<|open|>tools<|sep|><|open|>call tool=\"f\" index=\"1\"<|sep|>"
                      + begin
                      + marker.substring(0, cut)))
          .as("cut at %d", cut)
          .isEqualTo(content("").call("f", arguments));
    }
  }

  @Test
  void theHeadOfACallThatIsCutOffBehindAnotherIsNoContent() {
    var first =
        "<|open|>tools<|sep|><|open|>call tool=\"f\" index=\"1\"<|sep|><|close|>call<|sep|>";
    var second = "<|open|>call tool=\"g\" index=\"2\"<|sep|><|close|>call<|sep";
    for (int cut = 0; cut <= second.length(); cut++) {
      assertThat(parse(TaggedFormat.KIMI_K3, first + second.substring(0, cut)))
          .as("cut at %d", cut)
          .isEqualTo(content("").call("f", "{}"));
    }
  }

  @Test
  void textValuesArePassedOnAsTheyArrive() {
    var parser = new TaggedCalls(TaggedFormat.QWEN3_CODER, SCHEMAS);
    var sink = new JoinedMessage.FoldingSink();
    parser.accept("<tool_call><function=f><parameter=s>\nHello", sink);
    assertThat(sink.argumentsSoFar()).isEqualTo("{\"s\":\"Hello");
    parser.accept(" there\n", sink);
    assertThat(sink.argumentsSoFar()).isEqualTo("{\"s\":\"Hello there");
  }

  @Test
  void anEndTagThatIsCutOffBehindACallIsNoContent() {
    var text = qwenCall("s", "x");
    int end = text.indexOf("</parameter>") + "</parameter>".length();
    for (int cut = end; cut <= text.length(); cut++) {
      assertThat(qwen(text.substring(0, cut)).content().strip()).as("cut at %d", cut).isEmpty();
    }
  }

  @Test
  void aValuesBeginningThatIsCutOffIsNoContent() {
    var text = "<tool_call>f<arg_key>s</arg_key><arg_va";
    assertThat(parse(TaggedFormat.GLM_47, text)).isEqualTo(content("").call("f", "{}"));
  }
}
