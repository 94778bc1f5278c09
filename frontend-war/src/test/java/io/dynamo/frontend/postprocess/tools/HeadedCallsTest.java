package io.dynamo.frontend.postprocess.tools;

import static io.dynamo.frontend.postprocess.message.JoinedMessage.content;
import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.frontend.postprocess.message.JoinedMessage;
import io.dynamo.frontend.postprocess.message.MessageSink;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class HeadedCallsTest {
  private static final String BEGIN = "<｜tool▁calls▁begin｜>";
  private static final String END = "<｜tool▁calls▁end｜>";

  private static JoinedMessage v31(String text) {
    return JoinedMessage.atEveryCut(() -> new HeadedCalls(HeadedFormat.DEEPSEEK_V3_1), text);
  }

  private static JoinedMessage v3(String text) {
    return JoinedMessage.atEveryCut(() -> new HeadedCalls(HeadedFormat.DEEPSEEK_V3), text);
  }

  private static JoinedMessage kimi(String text) {
    return JoinedMessage.atEveryCut(() -> new HeadedCalls(HeadedFormat.KIMI_K2), text);
  }

  private static String call(String name, String json) {
    return "<｜tool▁call▁begin｜>" + name + "<｜tool▁sep｜>" + json + "<｜tool▁call▁end｜>";
  }

  @Test
  void deepSeeksCallsAreFoundAndCompact() {
    assertThat(v31("Ok " + BEGIN + call("f", "{\"a\": 1}") + call("g", "{ }") + END + " end"))
        .isEqualTo(content("Ok  end").call("f", "{\"a\":1}").call("g", "{}"));
    assertThat(v31(BEGIN + "\n" + call("f", " {\"s\": \"x y\"} ") + "\n" + END))
        .isEqualTo(content("").call("f", "{\"s\":\"x y\"}"));
  }

  @Test
  void deepSeeksFencedArgumentsAreFound() {
    var fenced = "function<｜tool▁sep｜>%s\n```json\n%s\n```";
    assertThat(
            v3(
                "Ok"
                    + BEGIN
                    + "<｜tool▁call▁begin｜>"
                    + fenced.formatted("f", "{\"a\": \"```\"}")
                    + "<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>"
                    + fenced.formatted("g", "{}")
                    + "<｜tool▁call▁end｜>"
                    + END))
        .isEqualTo(content("Ok").call("f", "{\"a\":\"```\"}").call("g", "{}"));
  }

  @Test
  void onlyOneFenceIsOpened() {
    var text = "<｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n```{}";
    assertThat(v3(text)).isEqualTo(content(text));
  }

  @Test
  void markersWithinStringsAreText() {
    assertThat(v31(BEGIN + call("f", "{\"a\":\"" + END + "\\\"<｜tool▁call▁end｜>\"}") + END))
        .isEqualTo(content("").call("f", "{\"a\":\"" + END + "\\\"<｜tool▁call▁end｜>\"}"));
  }

  @Test
  void kimisIdsAreItsOwn() {
    var text =
        "Hi<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0"
            + "<|tool_call_argument_begin|>{\"city\": \"Paris\"}<|tool_call_end|>"
            + "<|tool_call_begin|>functions.add:1"
            + "<|tool_call_argument_begin|>{\"a\": 1}<|tool_call_end|><|tool_calls_section_end|>";
    assertThat(kimi(text))
        .isEqualTo(
            content("Hi").call("get_weather", "{\"city\": \"Paris\"}").call("add", "{\"a\": 1}"));
    assertThat(kimi(text.replace("calls_section", "call_section")).calls()).hasSize(2);
    var ids = new ArrayList<String>();
    var parser = new HeadedCalls(HeadedFormat.KIMI_K2);
    MessageSink sink =
        new JoinedMessage.FoldingSink() {
          @Override
          public void callStarted(String name, @Nullable String id) {
            super.callStarted(name, id);
            ids.add(id);
          }
        };
    parser.accept(text, sink);
    assertThat(ids).isEqualTo(List.of("functions.get_weather:0", "functions.add:1"));
  }

  @Test
  void argumentsThatAreCutOffAreClosed() {
    assertThat(v31(BEGIN + "<｜tool▁call▁begin｜>f<｜tool▁sep｜>{\"a\": [\"x"))
        .isEqualTo(content("").call("f", "{\"a\":[\"x\"]}"));
    assertThat(v31(BEGIN + call("f", "{\"a\": 1}"))).isEqualTo(content("").call("f", "{\"a\":1}"));
  }

  @Test
  void textBehindTheCallsIsContent() {
    assertThat(v31(BEGIN + call("f", "{}") + " hm " + END + "!"))
        .isEqualTo(content(" hm !").call("f", "{}"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        BEGIN,
        BEGIN + "nothing" + END + " x",
        BEGIN + END,
        BEGIN + "<｜tool▁call▁begin｜>f",
        BEGIN + "<｜tool▁call▁begin｜>f<｜tool▁sep｜>no JSON<｜tool▁call▁end｜>" + END,
        BEGIN + "<｜tool▁call▁begin｜>f<｜tool▁sep｜>",
        "a <｜tool▁ca",
        "a < b"
      })
  void textThatIsNoCallBecomesContent(String text) {
    assertThat(v31(text)).isEqualTo(content(text));
  }

  @ParameterizedTest
  @ValueSource(ints = {1000, 5000})
  void anEndlessHeadIsContent(int length) {
    var text = BEGIN + "<｜tool▁call▁begin｜>" + "f".repeat(length);
    var whole = JoinedMessage.of(new HeadedCalls(HeadedFormat.DEEPSEEK_V3_1), List.of(text));
    assertThat(whole).isEqualTo(content(text));
  }

  @Test
  void anEndMarkerThatIsCutOffBehindACallIsNoContent() {
    for (var end : List.of("<｜tool▁call▁end｜>", "<｜tool▁call▁end｜><｜tool▁calls▁end｜>")) {
      int from = end.lastIndexOf('<');
      for (int cut = from + 1; cut < end.length(); cut++) {
        var text = BEGIN + "<｜tool▁call▁begin｜>f<｜tool▁sep｜>{}" + end.substring(0, cut);
        assertThat(v31(text)).isEqualTo(content("").call("f", "{}"));
      }
    }
    assertThat(v3(BEGIN + "<｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{}\n``"))
        .isEqualTo(content("").call("f", "{}"));
  }

  @Test
  void aHeadDoesNotReachIntoTheNextCall() {
    var broken = "<|tool_call_begin|>functions.a:0<|tool_call_end|>";
    var whole = "<|tool_call_begin|>functions.b:1<|tool_call_argument_begin|>{}<|tool_call_end|>";
    assertThat(kimi(broken + whole)).isEqualTo(content(broken).call("b", "{}"));
    assertThat(kimi(whole + broken + whole).calls()).hasSize(2);
    assertThat(v31(BEGIN + call("two words", "{}") + END))
        .isEqualTo(content(BEGIN + call("two words", "{}") + END));
    assertThat(v3(BEGIN + "<｜tool▁call▁begin｜>function<｜tool▁sep｜>" + END + "\n").calls())
        .isEmpty();
  }
}
