package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.Usage;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Anthropic's Messages API where it goes beyond the captures. */
class MessagesTest {
  private final FrontendFixture frontend = new FrontendFixture();

  @BeforeEach
  void choose() {
    frontend.api = TextService.MESSAGES;
    frontend.items = List.of(new EngineOutput(new int[1], "Hi", FinishReason.EOS, null, 0, null));
  }

  @AfterEach
  void close() {
    frontend.closeIdle();
  }

  private JsonNode ask(String messages, String more) throws IOException {
    var answer =
        frontend.post(
            "{\"model\":\"script\",\"max_tokens\":50,\"messages\":%s%s}".formatted(messages, more));
    assertThat(answer.status).as(answer.text()).isEqualTo(200);
    return PlayedScript.JSON.readTree(answer.text());
  }

  private static final String HELLO = "[{\"role\":\"user\",\"content\":\"hello\"}]";

  private List<Map<String, Object>> prompt() {
    return Objects.requireNonNull(frontend.prompt).messages();
  }

  @Test
  void aTurnWithResultsOfToolsIsSeveralMessages() throws IOException {
    ask(
        """
        [{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},
         {"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"x"},
           {"type":"redacted_thinking","data":"zz"},{"type":"text","text":"look"},
           {"type":"tool_use","id":"t1","name":"f","input":{"x":1}}]},
         {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,
           "content":[{"type":"text","text":"no"}]},{"type":"text","text":"go on"}]}]\
        """,
        "");

    assertThat(prompt())
        .containsExactly(
            Map.of("role", "user", "content", "a\nb"),
            Map.of(
                "role",
                "assistant",
                "content",
                "look",
                "reasoning_content",
                "hm",
                "tool_calls",
                List.of(
                    Map.of(
                        "id",
                        "t1",
                        "type",
                        "function",
                        "function",
                        Map.of("name", "f", "arguments", Map.of("x", 1))))),
            Map.of("role", "tool", "content", "no", "tool_call_id", "t1"),
            Map.of("role", "user", "content", "go on"));
  }

  @Test
  void thinkingThatIsSwitchedOffReachesTemplateAndParser() throws IOException {
    frontend.runtimeConfig = Map.of("reasoning_parser", "deepseek_r1");

    var answer = ask(HELLO, ",\"thinking\":{\"type\":\"disabled\"}");

    assertThat(answer.at("/content/0/type").asText()).isEqualTo("text");
    assertThat(Objects.requireNonNull(frontend.prompt).templateArgs())
        .containsEntry("enable_thinking", false)
        .doesNotContainKey("truncate_history_thinking");
  }

  @Test
  void aReasoningModelThinksUnlessTheRequestForbidsIt() throws IOException {
    frontend.runtimeConfig = Map.of("reasoning_parser", "deepseek_r1");

    var answer = ask(HELLO, "");

    assertThat(answer.at("/content/0/type").asText()).isEqualTo("thinking");
    assertThat(Objects.requireNonNull(frontend.prompt).templateArgs())
        .containsEntry("enable_thinking", true)
        .containsEntry("truncate_history_thinking", false);
  }

  @Test
  void theBudgetOfThinkingIsTheWorkersBound() throws IOException {
    ask(HELLO, ",\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":1024}");

    assertThat(Objects.requireNonNull(frontend.asked).stop().maxThinkingTokens()).isEqualTo(1024);
  }

  @Test
  void tokensOfACacheAreCountedApart() throws IOException {
    frontend.items =
        List.of(
            new EngineOutput(new int[1], "Hi", FinishReason.EOS, null, 0, new Usage(20, 1, 16)));

    var usage = ask(HELLO, "").get("usage");

    assertThat(usage.get("input_tokens").asInt()).isEqualTo(4);
    assertThat(usage.get("cache_read_input_tokens").asInt()).isEqualTo(16);
  }

  @Test
  void aStreamThatBreaksEndsWithATypedError() {
    frontend.items = List.of(new EngineOutput(new int[1], "abc", null, null, 0, null));
    frontend.failure = new EngineFailedException(ErrorCode.BACKEND_UNKNOWN, "broken", null);

    var answer =
        frontend.post(
            "{\"model\":\"script\",\"max_tokens\":50,\"stream\":true,\"messages\":" + HELLO + "}");

    assertThat(answer.text())
        .startsWith("event: message_start\n")
        .endsWith(
            "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\","
                + "\"message\":\"Internal server error\"}}\n\n");
  }

  @Test
  void tokensAreCountedByTheTokenizerWithoutAGeneration() {
    frontend.api = TextService.MESSAGES_COUNT;
    frontend.promptTokens = 1234; // more than the model takes

    var answer = frontend.post("{\"model\":\"script\",\"messages\":" + HELLO + "}");

    assertThat(answer.text()).isEqualTo("{\"input_tokens\":1234}");
    assertThat(frontend.asked).isNull();
    assertThat(frontend.encoded).contains("hello");
  }

  @Test
  void tokensOfAnUnknownModelAreNotCounted() {
    frontend.api = TextService.MESSAGES_COUNT;

    var answer = frontend.post("{\"model\":\"nobody\",\"messages\":" + HELLO + "}");

    assertThat(answer.status).isEqualTo(404);
  }
}
