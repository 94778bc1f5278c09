package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The Responses API where it goes beyond the captures. */
class ResponsesTest {
  private final FrontendFixture frontend = new FrontendFixture();

  @BeforeEach
  void choose() {
    frontend.api = TextService.RESPONSES;
    frontend.items = List.of(new EngineOutput(new int[1], "Hi", FinishReason.EOS, null, 0, null));
  }

  @AfterEach
  void close() {
    frontend.closeIdle();
  }

  private JsonNode ask(String input, String more) throws IOException {
    var answer = frontend.post("{\"model\":\"script\",\"input\":%s%s}".formatted(input, more));
    assertThat(answer.status).as(answer.text()).isEqualTo(200);
    return PlayedScript.JSON.readTree(answer.text());
  }

  @Test
  void itemsOfOneTurnAreOneMessage() throws IOException {
    ask(
        """
        [{"role":"user","content":"w"},
         {"type":"reasoning","id":"rs_1","summary":[],"content":[{"type":"reasoning_text","text":"hm"}]},
         {"type":"message","role":"assistant","content":[{"type":"output_text","text":"look"}]},
         {"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},
         {"type":"function_call","call_id":"c2","name":"g","arguments":"{}"},
         {"type":"function_call_output","call_id":"c1","output":"1"},
         {"type":"function_call_output","call_id":"c2","output":[{"type":"input_text","text":"2"}]}]\
        """,
        ",\"instructions\":\"be brief\"");

    var prompt = Objects.requireNonNull(frontend.prompt).messages();
    assertThat(prompt.stream().map(it -> it.get("role")))
        .containsExactly("system", "user", "assistant", "tool", "tool");
    assertThat(prompt.get(2))
        .containsEntry("content", "look")
        .containsEntry("reasoning_content", "hm");
    assertThat((List<?>) prompt.get(2).get("tool_calls")).hasSize(2);
    assertThat(prompt.get(4)).containsEntry("content", "2").containsEntry("tool_call_id", "c2");
  }

  @ParameterizedTest
  @CsvSource({
    "501, conversation, '\"conv_1\"'",
    "501, previous_response_id, '\"resp_1\"'",
    "501, top_logprobs, 3",
    "501, background, true",
    "400, stop, '\"x\"'",
    "400, zzz, 1",
  })
  void unsupportedFieldsAreRefusedByName(int status, String field, String value) {
    var answer =
        frontend.post("{\"model\":\"script\",\"input\":\"hi\",\"%s\":%s}".formatted(field, value));

    assertThat(answer.status).isEqualTo(status);
    assertThat(answer.text()).contains(field);
  }

  @Test
  void onlyAllowedToolsAreShownToTheModel() throws IOException {
    ask(
        "\"hi\"",
        """
        ,"tools":[{"type":"function","name":"f","parameters":{}},{"type":"function","name":"g","parameters":{}}],
        "tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"g"}]}\
        """);

    assertThat(Objects.requireNonNull(frontend.prompt).tools())
        .singleElement()
        .satisfies(tool -> assertThat(tool.toString()).contains("name=g"));
  }

  @Test
  void eachItemIsClosedBeforeTheNextBegins() {
    frontend.runtimeConfig = Map.of("tool_call_parser", "hermes");
    frontend.items =
        List.of(
            new EngineOutput(new int[1], "Look. ", null, null, 0, null),
            new EngineOutput(
                new int[1],
                "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>",
                FinishReason.EOS,
                null,
                0,
                null));

    var answer =
        frontend.post(
            "{\"model\":\"script\",\"stream\":true,\"input\":\"hi\",\"tools\":[{\"type\":\"function\",\"name\":\"f\",\"parameters\":{}}]}");

    assertThat(
            PlayedScript.events(answer.text()).stream()
                .map(event -> event.get("type").asText())
                .filter(type -> type.contains("output_item")))
        .containsExactly(
            "response.output_item.added",
            "response.output_item.done",
            "response.output_item.added",
            "response.output_item.done");
  }

  @Test
  void tokensOfTheInputAreCountedByTheTokenizerWithoutAGeneration() throws IOException {
    frontend.api = TextService.RESPONSES_COUNT;
    frontend.promptTokens = 1234;

    var counted = ask("\"hello\"", "");

    assertThat(counted.get("object").asText()).isEqualTo("response.input_tokens");
    assertThat(counted.get("input_tokens").asInt()).isEqualTo(1234);
    assertThat(frontend.asked).isNull();
  }
}
