package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dynamo.discovery.EndpointId;
import io.dynamo.error.NoWorkerException;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tool calls and thoughts on the wire, token by token. */
final class ToolCallsTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String TOOLS =
      ",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":"
          + "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}}}}}]";

  private final FrontendFixture frontend = new FrontendFixture();

  @BeforeEach
  void card() {
    frontend.runtimeConfig = Map.of("tool_call_parser", "hermes", "reasoning_parser", "qwen3");
  }

  @AfterEach
  void close() {
    frontend.closeIdle();
  }

  private static String request(String more) {
    return "{\"model\":\"script\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]"
        + more
        + "}";
  }

  /** One item for each text, the last with a finish reason. */
  private static List<EngineOutput> saying(FinishReason finish, String... texts) {
    var items = new ArrayList<EngineOutput>();
    for (int i = 0; i < texts.length; i++) {
      items.add(
          new EngineOutput(
              texts[i].codePoints().toArray(),
              null,
              i == texts.length - 1 ? finish : null,
              null,
              0,
              null));
    }
    return items;
  }

  private List<String> deltas(String body) throws IOException {
    var deltas = new ArrayList<String>();
    for (var frame : frontend.post(body).text().split("\n\n", -1)) {
      if (frame.startsWith("data: {")) {
        JsonNode choice = JSON.readTree(frame.substring("data: ".length())).path("choices").get(0);
        if (choice != null) {
          deltas.add(
              choice.path("delta").toString().replaceAll("call-[0-9a-f-]{36}", "ID")
                  + choice.path("finish_reason").asText(""));
        }
      }
    }
    return deltas;
  }

  @Test
  void argumentsAreStreamedAsTheModelWritesThem() throws IOException {
    frontend.items =
        saying(
            FinishReason.EOS,
            "<think>",
            "hm",
            "</think>",
            "\n\n<tool",
            "_call>\n{\"name\": \"f\", \"argu",
            "ments\": {\"a\": \"x",
            "y\\",
            "\"\"}}\n</tool_",
            "call>");
    assertThat(deltas(request(TOOLS + ",\"stream\":true")))
        .containsExactly(
            "{\"role\":\"assistant\"}",
            "{\"reasoning_content\":\"hm\"}",
            "{\"content\":\"\\n\\n\"}",
            "{\"content\":\"\",\"tool_calls\":[{\"index\":0,\"id\":\"ID\",\"type\":\"function\","
                + "\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\": \\\"x\"}}]}",
            "{\"content\":\"\",\"tool_calls\":[{\"index\":0,\"function\":"
                + "{\"arguments\":\"y\"}}]}",
            "{\"content\":\"\",\"tool_calls\":[{\"index\":0,\"function\":"
                + "{\"arguments\":\"\\\\\\\"\\\"}\"}}]}",
            "{}tool_calls");
  }

  @Test
  void contentBehindACallHasAChunkOfItsOwn() throws IOException {
    frontend.items =
        saying(
            FinishReason.STOP, "a <tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call> b");
    assertThat(deltas(request(TOOLS + ",\"stream\":true")))
        .containsExactly(
            "{\"content\":\"a \",\"tool_calls\":[{\"index\":0,\"id\":\"ID\",\"type\":\"function\","
                + "\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}],\"role\":\"assistant\"}",
            "{\"content\":\" b\"}tool_calls");
  }

  @Test
  void thoughtsAreCounted() throws IOException {
    frontend.items = saying(FinishReason.STOP, "<think>ab", "cd", "</think>", "ok");
    var body = request(",\"stream\":true,\"stream_options\":{\"include_usage\":true}");
    assertThat(frontend.post(body).text())
        .contains("\"total_tokens\":26,\"completion_tokens_details\":{\"reasoning_tokens\":19}}");
    var own = JSON.readTree(frontend.post(request("")).text());
    assertThat(own.path("usage").path("completion_tokens_details").path("reasoning_tokens").asInt())
        .isEqualTo(19);
    assertThat(own.path("choices").path(0).path("message").toString())
        .isEqualTo(
            "{\"content\":\"ok\",\"refusal\":null,\"role\":\"assistant\","
                + "\"reasoning_content\":\"abcd\"}");
  }

  @Test
  void heldBackTextIsDeliveredBeforeAFailure() {
    frontend.items = saying(FinishReason.STOP, "a <tool_ca", "x").subList(0, 1);
    frontend.failure = new NoWorkerException(new EndpointId("n", "c", "e"), 0, 0);
    assertThat(frontend.post(request(TOOLS + ",\"stream\":true")).text())
        .containsSubsequence("\"content\":\"a \"", "\"content\":\"<tool_ca\"", "\"error\"");
  }

  @Test
  void withoutParsersMarksAreText() throws IOException {
    frontend.runtimeConfig = Map.of();
    frontend.items = saying(FinishReason.STOP, "<think>a</think><tool_call>");
    assertThat(deltas(request(TOOLS + ",\"stream\":true")))
        .containsExactly(
            "{\"content\":\"<think>a</think><tool_call>\",\"role\":\"assistant\"}stop");
  }

  @Test
  void anUnknownParserLeavesCallsAsText() throws IOException {
    frontend.runtimeConfig = Map.of("tool_call_parser", "nonesuch");
    frontend.items = saying(FinishReason.STOP, "<tool_call>x");
    assertThat(deltas(request(TOOLS + ",\"stream\":true")))
        .containsExactly("{\"content\":\"<tool_call>x\",\"role\":\"assistant\"}stop");
  }

  @Test
  void aForcedCallCannotBeGuidedOtherwise() {
    var answer =
        frontend.post(request(TOOLS + ",\"tool_choice\":\"required\",\"guided_regex\":\"a\""));
    assertThat(answer.status).isEqualTo(400);
    assertThat(answer.text()).contains("tool_choice", "regex");
  }
}
