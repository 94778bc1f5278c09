package io.dynamo.frontend.postprocess.tools;

import static io.dynamo.frontend.postprocess.message.JoinedMessage.content;
import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.frontend.postprocess.message.JoinedMessage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class JsonCallsTest {
  private static final String PARIS =
      "{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}";
  private static final String ROME =
      "{\"name\": \"get_weather\", \"parameters\": {\"city\": \"Rome\"}}";
  private static final JoinedMessage NOTHING = content("");

  private static JoinedMessage hermes(String text) {
    return JoinedMessage.atEveryCut(() -> new JsonCalls(JsonFormat.HERMES), text);
  }

  private static JoinedMessage llama(String text) {
    return JoinedMessage.atEveryCut(() -> new JsonCalls(JsonFormat.LLAMA), text);
  }

  private static JoinedMessage mistral(String text) {
    return JoinedMessage.atEveryCut(() -> new JsonCalls(JsonFormat.MISTRAL), text);
  }

  private static JoinedMessage paris(String content) {
    return content(content).call("get_weather", "{\"city\": \"Paris\"}");
  }

  private static JoinedMessage parisAndRome(String content) {
    return paris(content).call("get_weather", "{\"city\": \"Rome\"}");
  }

  @Test
  void aCallBetweenTextIsFound() {
    assertThat(hermes("Let me check. <tool_call>\n" + PARIS + "\n</tool_call>"))
        .isEqualTo(paris("Let me check. "));
    assertThat(hermes("<tool_call>" + PARIS + "</tool_call> done")).isEqualTo(paris(" done"));
  }

  @Test
  void callsFollowEachOther() {
    var call = "<tool_call>\n%s\n</tool_call>";
    assertThat(hermes(call.formatted(PARIS) + "\n" + call.formatted(ROME) + " done"))
        .isEqualTo(parisAndRome("\n done"));
    assertThat(hermes("<tool_call>\n" + PARIS + "\n" + ROME + "\n</tool_call>"))
        .isEqualTo(parisAndRome(""));
    assertThat(hermes("<tool_call>[" + PARIS + ", " + ROME + "]</tool_call>"))
        .isEqualTo(parisAndRome(""));
  }

  @Test
  void markersWithinStringsAreText() {
    var json = "{\"s\": \"</tool_call> <tool_call> \\\" \\\\ {\\\"a\\\": [\"}";
    assertThat(hermes("a <tool_call>{\"name\": \"f\", \"arguments\": " + json + "}</tool_call> b"))
        .isEqualTo(content("a  b").call("f", json));
  }

  @Test
  void nestedArgumentsKeepTheirForm() {
    var json = "{ \"a\": {\"b\": [1, {\"c\": null}], \"ü\": \"日本 😀\"} , \"d\":true}";
    assertThat(hermes("<tool_call>{\"name\": \"f\", \"arguments\": " + json + "}</tool_call>"))
        .isEqualTo(NOTHING.call("f", json));
  }

  @Test
  void theNameMayComeLast() {
    assertThat(hermes("<tool_call>{\"arguments\": {\"a\": 1}, \"name\": \"f\"}</tool_call>"))
        .isEqualTo(NOTHING.call("f", "{\"a\": 1}"));
  }

  @Test
  void openAisNestingIsUnderstood() {
    var text =
        "<tool_call>{\"id\": \"7\", \"type\": \"function\", \"function\": {\"name\": \"f\","
            + " \"arguments\": \"{\\\"a\\\": 1}\"}}</tool_call>";
    assertThat(hermes(text)).isEqualTo(NOTHING.call("f", "{\"a\": 1}"));
  }

  @Test
  void aCallWithoutArgumentsHasNone() {
    assertThat(hermes("<tool_call>{\"name\": \"f\"}</tool_call>"))
        .isEqualTo(NOTHING.call("f", "{}"));
    assertThat(hermes("<tool_call>{\"name\": \"f\", \"arguments\": null}</tool_call>"))
        .isEqualTo(NOTHING.call("f", "{}"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "<tool_call>\n{\"name\": get_weather}\n</tool_call>",
        "<tool_call>not JSON</tool_call>",
        "<tool_call>{\"city\": \"Paris\"}</tool_call> ok",
        "<tool_call>\n{\"name\": \"get_weather\", \"argum",
        "<tool_call>",
        "a <tool shed is nice",
        "a < b <<tool_cal"
      })
  void textThatIsNoCallBecomesContent(String text) {
    assertThat(hermes(text)).isEqualTo(content(text));
  }

  @Test
  void aGoodCallBehindABrokenOneIsFound() {
    assertThat(hermes("<tool_call>{oops}</tool_call><tool_call>" + PARIS + "</tool_call>"))
        .isEqualTo(paris("<tool_call>{oops}</tool_call>"));
    assertThat(hermes("<tool_call>oops <tool_call>" + PARIS + "</tool_call>"))
        .isEqualTo(paris("<tool_call>oops "));
  }

  @Test
  void argumentsThatAreCutOffAreClosed() {
    var begun = "<tool_call>{\"name\": \"f\", \"arguments\": ";
    assertThat(hermes(begun + "{\"a\": [1, {\"b\": \"x"))
        .isEqualTo(NOTHING.call("f", "{\"a\": [1, {\"b\": \"x\"}]}"));
    assertThat(hermes(begun + "{\"a\": 1, \"b\"")).isEqualTo(NOTHING.call("f", "{\"a\": 1}"));
    assertThat(hermes(begun + "{")).isEqualTo(NOTHING.call("f", "{}"));
    assertThat(hermes(begun + "{\"a\": 1}")).isEqualTo(NOTHING.call("f", "{\"a\": 1}"));
    assertThat(hermes(begun + "{\"a\": 1}}\n</tool_"))
        .isEqualTo(content("").call("f", "{\"a\": 1}"));
  }

  @Test
  void missingAndStrayBracketsAreForgiven() {
    assertThat(hermes("<tool_call>" + PARIS.substring(0, PARIS.length() - 1) + "\n</tool_call>!"))
        .isEqualTo(paris("!"));
    assertThat(hermes("<tool_call>" + PARIS + "}\n</tool_call>!")).isEqualTo(paris("!"));
    assertThat(hermes("ok</tool_call>")).isEqualTo(content("ok"));
  }

  @Test
  void brokenArgumentsEndTheCallWhereTheyBreak() {
    assertThat(hermes("<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 1, b}}</tool_call> ok"))
        .isEqualTo(content("b}} ok").call("f", "{\"a\": 1}"));
  }

  @Test
  void bareJsonIsACallOnlyAtTheBeginning() {
    assertThat(llama(ROME)).isEqualTo(NOTHING.call("get_weather", "{\"city\": \"Rome\"}"));
    assertThat(llama("\n " + PARIS)).isEqualTo(paris(""));
    assertThat(llama("[" + PARIS + "," + ROME + "]")).isEqualTo(parisAndRome(""));
    assertThat(llama("See: " + PARIS)).isEqualTo(content("See: " + PARIS));
  }

  @Test
  void callsMayBeSeparatedBySemicolons() {
    assertThat(llama("<|python_tag|>" + PARIS + "; " + ROME)).isEqualTo(parisAndRome(""));
    assertThat(llama("<|python_tag|>" + PARIS + " and so on")).isEqualTo(paris(" and so on"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"city\": \"Paris\"}",
        "{\"name\": \"Bob\", \"age\": 3}",
        "{\"name\": \"Bob\"}",
        "{\"name\": \"Bob\", \"parameters\": 3}",
        "[1, 2]",
        "{\"name\": \"Bo",
        " {",
        "  "
      })
  void jsonThatIsNoCallIsContent(String text) {
    assertThat(llama(text)).isEqualTo(content(text));
  }

  @Test
  void mistralsArrayIsRead() {
    assertThat(mistral("ok [TOOL_CALLS] [" + PARIS + ", " + ROME + "] end"))
        .isEqualTo(parisAndRome("ok  end"));
    assertThat(mistral("[TOOL_CALLS][" + PARIS + "][/TOOL_CALLS]")).isEqualTo(paris(""));
  }

  @Test
  void mistralsNameBeforeTheArgumentsIsRead() {
    assertThat(mistral("[TOOL_CALLS]get_weather[ARGS]{\"city\": \"Paris\"}")).isEqualTo(paris(""));
    assertThat(
            mistral(
                "[TOOL_CALLS]get_weather{\"city\": \"Paris\"}"
                    + "[TOOL_CALLS]get_weather[CALL_ID]abc123[ARGS]{\"city\": \"Rome\"}"))
        .isEqualTo(parisAndRome(""));
    assertThat(mistral("[TOOL_CALLS]get_weather[ARGS]{\"city\": \"Par"))
        .isEqualTo(NOTHING.call("get_weather", "{\"city\": \"Par\"}"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"[TOOL_CALLS]get_weather", "[TOOL_CALLS]what? no", "[TOOL_CALLS]f[ARGS]nothing"})
  void mistralTextThatIsNoCallIsGivenBack(String text) {
    assertThat(mistral(text)).isEqualTo(content(text));
  }

  @Test
  void otherMarkersWorkAlike() {
    assertThat(
            JoinedMessage.atEveryCut(
                () -> new JsonCalls(JsonFormat.NEMOTRON),
                "a <TOOLCALL>[" + PARIS + "," + ROME + "]</TOOLCALL> b"))
        .isEqualTo(parisAndRome("a  b"));
    assertThat(
            JoinedMessage.atEveryCut(
                () -> new JsonCalls(JsonFormat.JAMBA),
                "<tool_calls>[\n" + PARIS + "\n]</tool_calls>"))
        .isEqualTo(paris(""));
    assertThat(
            JoinedMessage.atEveryCut(
                () -> new JsonCalls(JsonFormat.PHI), "functools[" + PARIS + "] ok"))
        .isEqualTo(paris(" ok"));
    assertThat(
            JoinedMessage.atEveryCut(() -> new JsonCalls(JsonFormat.PHI), "functools is a module"))
        .isEqualTo(content("functools is a module"));
    assertThat(
            JoinedMessage.atEveryCut(
                () -> new JsonCalls(JsonFormat.DEFAULT), "<TOOLCALL>[" + PARIS + "]</TOOLCALL>"))
        .isEqualTo(paris(""));
  }

  @Test
  void argumentsArePassedOnAsTheyArrive() {
    var parser = new JsonCalls(JsonFormat.HERMES);
    var sink = new JoinedMessage.FoldingSink();
    parser.accept("<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": \"He", sink);
    assertThat(sink.argumentsSoFar()).isEqualTo("{\"a\": \"He");
    parser.accept("llo\", \"b", sink);
    assertThat(sink.argumentsSoFar()).isEqualTo("{\"a\": \"Hello\"");
    parser.accept("\": 1", sink);
    assertThat(sink.argumentsSoFar()).isEqualTo("{\"a\": \"Hello\"");
    parser.accept("2}}", sink);
    assertThat(sink.argumentsSoFar()).isEqualTo("{\"a\": \"Hello\", \"b\": 12}");
  }

  @Test
  void anEndMarkerThatIsCutOffBehindACallIsNoContent() {
    var call = "<tool_call>{\"name\": \"f\", \"arguments\": {}}\n";
    for (int cut = 1; cut < "</tool_call>".length(); cut++) {
      var text = call + "</tool_call>".substring(0, cut);
      assertThat(JoinedMessage.atEveryCut(() -> new JsonCalls(JsonFormat.HERMES), text))
          .isEqualTo(content("").call("f", "{}"));
    }
  }
}
