package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dynamo.config.frontend.DispatchEvents;
import io.dynamo.frontend.openai.PlayedScript.Capture;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The events beside the chunks of chat, held against what Dynamo 1.6.1 sent. */
final class DispatchEventsTest {
  private static final String CALL =
      "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": \"b\"}}\n</tool_call>";

  private @Nullable FrontendFixture frontend;

  @AfterEach
  void close() {
    if (frontend != null) {
      frontend.close();
    }
  }

  private FrontendFixture frontend(DispatchEvents dispatches, String model) {
    frontend = new FrontendFixture(FrontendFixture.rules(dispatches));
    frontend.runtimeConfig =
        model.equals("r1")
            ? Map.of("reasoning_parser", "deepseek_r1")
            : Map.of("tool_call_parser", "hermes", "reasoning_parser", "qwen3");
    return frontend;
  }

  static Stream<Capture> captures() {
    return PlayedScript.captures("dispatch").filter(it -> !it.name().endsWith("_named"));
  }

  @ParameterizedTest
  @MethodSource("captures")
  void framesAreAsCaptured(Capture capture) throws IOException {
    var body = (ObjectNode) capture.request().path("body").deepCopy();
    var own = frontend(new DispatchEvents(true, true), body.path("model").asText());
    body.put("model", "script");
    var script = body.path("messages").path(0).path("content").asText();
    own.scripts =
        List.of(items(PlayedScript.JSON.readTree(script.substring(2, script.length() - 2))));

    var answer = own.post(body.toString());

    assertThat(frames(answer.text())).isEqualTo(frames(capture.response().path("sse").asText()));
  }

  @Test
  void aCallOfANamedToolIsDispatchedWhole() throws IOException {
    var capture =
        PlayedScript.captures("dispatch").filter(it -> it.name().endsWith("_named")).findFirst();
    var body = (ObjectNode) capture.orElseThrow().request().path("body").deepCopy();
    var own = frontend(new DispatchEvents(true, true), "hermes");
    body.put("model", "script");
    var script = body.path("messages").path(0).path("content").asText();
    own.scripts =
        List.of(items(PlayedScript.JSON.readTree(script.substring(2, script.length() - 2))));

    var events = events(own.post(body.toString()).text());

    assertThat(events).hasSize(1);
    assertThat(events.getFirst().path("tool_call").path("function").path("arguments").asText())
        .isEqualTo("{\"city\":\"Oslo\"}");
  }

  @Test
  void nothingIsDispatchedUnlessSwitchedOn() {
    var own = frontend(DispatchEvents.NONE, "qwen3");
    own.scripts = List.of(output("<think>t</think>" + CALL, FinishReason.STOP));
    assertThat(own.post(chat("")).text()).doesNotContain("event:");
  }

  @Test
  void eachKindHasASwitchOfItsOwn() throws IOException {
    var own = frontend(new DispatchEvents(true, false), "qwen3");
    own.scripts = List.of(output("<think>t</think>" + CALL, FinishReason.STOP));
    assertThat(own.post(chat("")).text())
        .contains("event: tool_call_dispatch")
        .doesNotContain("event: reasoning_dispatch");
    own.close();
    own = frontend(new DispatchEvents(false, true), "qwen3");
    own.scripts = List.of(output("<think>t</think>" + CALL, FinishReason.STOP));
    var answer = own.post(chat("")).text();
    assertThat(answer).doesNotContain("event: tool_call_dispatch");
    assertThat(events(answer))
        .extracting(it -> it.path("reasoning_content").asText(""))
        .contains("t");
  }

  @Test
  void aCallThatTheBudgetCutOffIsNotDispatched() {
    var own = frontend(new DispatchEvents(true, true), "qwen3");
    own.scripts =
        List.of(
            output(
                "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": \"b", FinishReason.LENGTH));
    var answer = own.post(chat("")).text();
    assertThat(answer).contains("\"name\":\"f\"").doesNotContain("event:");
  }

  @Test
  void aWholeCallBeforeOneThatIsCutOffIsDispatched() throws IOException {
    var own = frontend(new DispatchEvents(true, true), "qwen3");
    own.scripts =
        List.of(
            output(
                CALL + "<tool_call>\n{\"name\": \"g\", \"arguments\": {\"a\": \"b",
                FinishReason.LENGTH));
    var answer = own.post(chat("")).text();
    assertThat(answer).contains("\"name\":\"g\"");
    assertThat(events(answer))
        .extracting(it -> it.at("/tool_call/function/name").asText())
        .containsExactly("f");
  }

  @Test
  void eachChoiceGathersItsOwn() throws IOException {
    var own = frontend(new DispatchEvents(true, true), "qwen3");
    own.scripts =
        List.of(
            output("<think>one</think>x", FinishReason.STOP),
            output("<think>two</think>y", FinishReason.STOP));
    assertThat(events(own.post(chat(",\"n\":2")).text()))
        .extracting(it -> it.path("index").asInt() + it.path("reasoning_content").asText())
        .containsExactlyInAnyOrder("0one", "1two");
  }

  @Test
  void wholeAnswersHaveNoEvents() {
    var own = frontend(new DispatchEvents(true, true), "qwen3");
    own.scripts = List.of(output("<think>t</think>" + CALL, FinishReason.STOP));
    var answer = own.post(chat(false, ""));
    assertThat(answer.events).isFalse();
    assertThat(answer.text()).doesNotContain("dispatch");
  }

  private static String chat(String more) {
    return chat(true, more);
  }

  private static String chat(boolean stream, String more) {
    return """
    {"model":"script","messages":[{"role":"user","content":"hi"}],"stream":%s,
     "tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}]%s}\
    """
        .formatted(stream, more);
  }

  private static List<EngineOutput> output(String text, FinishReason finish) {
    return List.of(new EngineOutput(text.codePoints().toArray(), null, finish, null, 0, null));
  }

  private static List<EngineOutput> items(JsonNode script) {
    var items = new ArrayList<EngineOutput>();
    for (var item : script.path("items")) {
      var finish = item.path("finish_reason").asText("");
      items.add(
          new EngineOutput(
              item.path("t").asText().codePoints().toArray(),
              null,
              switch (finish) {
                case "" -> null;
                case "length" -> FinishReason.LENGTH;
                default -> FinishReason.STOP;
              },
              null,
              0,
              null));
    }
    return items;
  }

  /** The data of the events that have a name. */
  private static List<JsonNode> events(String sse) throws IOException {
    var events = new ArrayList<JsonNode>();
    for (var frame : sse.split("\n\n", 0)) {
      if (frame.startsWith("event: ")) {
        events.add(PlayedScript.JSON.readTree(frame.substring(frame.indexOf("data: ") + 6)));
      }
    }
    return events;
  }

  /**
   * The names and contents of all frames, without ids, usage, space between calls and the
   * operator's field name.
   */
  private static List<String> frames(String sse) throws IOException {
    var frames = new ArrayList<String>();
    for (var frame : sse.split("\n\n", 0)) {
      int data = frame.indexOf("data: {");
      if (data < 0) {
        continue;
      }
      var json = PlayedScript.JSON.readTree(frame.substring(data + "data: ".length()));
      if (json.path("tool_call") instanceof ObjectNode call) {
        call.remove("id");
      }
      var shown = json.has("choices") ? json.path("choices") : json;
      if (shown.isArray() && shown.isEmpty()) {
        continue; // the usage
      }
      for (var choice : shown) {
        if (choice.path("delta") instanceof ObjectNode delta
            && delta.has("tool_calls")
            && delta.path("content").asText().isBlank()) {
          delta.put("content", ""); // space between calls is kept here
        }
        for (var call : choice.path("delta").path("tool_calls")) {
          ((ObjectNode) call).remove("id");
        }
      }
      frames.add(
          frame.substring(0, data)
              + shown.toString().replace("\"reasoning\":", "\"reasoning_content\":"));
    }
    return frames;
  }
}
