package io.dynamo.frontend.preprocess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.json.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Prompts in the form that the model's published encoder gives them. */
class KimiK3FormatTest {
  private static final String THINK_TAIL =
      "<|open|>message role=\"assistant\"<|sep|><|open|>think<|sep|>";
  private static final String PLAIN_TAIL =
      "<|open|>message role=\"assistant\"<|sep|><|open|>response<|sep|>";
  private static final String HI =
      "<|open|>message role=\"user\"<|sep|>hi<|close|>message<|sep|><|end_of_msg|>";

  private static String effort(String effort) {
    return "<|open|>message role=\"system\" type=\"thinking-effort\"<|sep|>`thinking_effort` guides"
        + " on how much to think in your thinking channel (not including the response channel),"
        + " supported values include `low`, `medium`, `high`, and `max`.\nNow the system is invoked"
        + " with `thinking_effort="
        + effort
        + "`.<|close|>message<|sep|><|end_of_msg|>";
  }

  /**
   * @param json an object with messages, and perhaps tools, args, response_format and tool_choice
   */
  private static String rendered(String json) {
    var prompt = Json.readObject(json.getBytes(StandardCharsets.UTF_8));
    return new KimiK3Format()
        .render(
            new ChatPrompt(
                objects(prompt.members().get("messages")),
                objects(prompt.members().get("tools")),
                prompt.members().get("args") instanceof Map<?, ?> args ? named(args) : Map.of(),
                prompt.members().get("response_format") instanceof Map<?, ?> form
                    ? named(form)
                    : null,
                prompt.members().get("tool_choice") instanceof String choice ? choice : null))
        .text();
  }

  @SuppressWarnings("unchecked") // members of JSON are named by text
  private static Map<String, Object> named(Object map) {
    return (Map<String, Object>) map;
  }

  private static List<Map<String, Object>> objects(@Nullable Object list) {
    var objects = new ArrayList<Map<String, Object>>();
    if (list instanceof List<?> items) {
      items.forEach(item -> objects.add(named(item)));
    }
    return objects;
  }

  @Test
  void aConversationKeepsItsThoughts() {
    assertThat(
            rendered(
                """
                {"messages": [
                  {"role": "system", "content": "You are helpful."},
                  {"role": "user", "content": "Numbers?"},
                  {"role": "assistant", "content": "473", "reasoning_content": "I'll remember 215."},
                  {"role": "user", "content": [{"type": "text", "text": "Which"}, {"type": "text", "text": "?"}]}]}
                """))
        .isEqualTo(
            effort("max")
                + "<|open|>message role=\"system\"<|sep|>You are helpful.<|close|>message<|sep|><|end_of_msg|>"
                + "<|open|>message role=\"user\"<|sep|>Numbers?<|close|>message<|sep|><|end_of_msg|>"
                + "<|open|>message role=\"assistant\"<|sep|><|open|>think<|sep|>I'll remember 215.<|close|>think<|sep|>"
                + "<|open|>response<|sep|>473<|close|>response<|sep|><|close|>message<|sep|><|end_of_msg|>"
                + "<|open|>message role=\"user\"<|sep|>Which?<|close|>message<|sep|><|end_of_msg|>"
                + THINK_TAIL);
  }

  @Test
  void withoutThinkingThoughtsAreLeftOut() {
    assertThat(
            rendered(
                """
                {"messages": [{"role": "user", "content": "hi"},
                  {"role": "assistant", "content": "a", "reasoning_content": "secret"},
                  {"role": "user", "name": "A \\"B\\" & C", "content": "x"}],
                 "args": {"thinking": false}}
                """))
        .isEqualTo(
            HI
                + "<|open|>message role=\"assistant\"<|sep|><|open|>response<|sep|>a<|close|>response<|sep|>"
                + "<|close|>message<|sep|><|end_of_msg|>"
                + "<|open|>message role=\"user\" name=\"A &quot;B&quot; &amp; C\"<|sep|>x<|close|>message<|sep|><|end_of_msg|>"
                + PLAIN_TAIL);
  }

  @ParameterizedTest
  @CsvSource({
    "thinking_effort, low, low",
    "thinking_effort, max, max",
    "reasoning_effort, minimal, low",
    "reasoning_effort, medium, high",
    "reasoning_effort, high, high",
    "reasoning_effort, xhigh, max",
  })
  void theEffortIsOneThatTheModelKnows(String name, String asked, String told) {
    var json =
        "{\"messages\": [{\"role\": \"user\", \"content\": \"hi\"}], \"args\": {\"%s\": \"%s\"}}";
    assertThat(rendered(json.formatted(name, asked))).isEqualTo(effort(told) + HI + THINK_TAIL);
    assertThatThrownBy(() -> rendered(json.formatted("thinking_effort", "medium")))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContainingAll("medium", "low, high, max");
  }

  @Test
  void toolsCallsAndResultsHaveTheirForm() {
    assertThat(
            rendered(
                """
                {"messages": [{"role": "user", "content": "hi"},
                  {"role": "assistant", "content": null, "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "f", "arguments":
                      "{\\"s\\": \\"<é>\\", \\"i\\": 7, \\"d\\": 3.5, \\"b\\": true, \\"z\\": null, \\"o\\": {\\"k\\": 1}, \\"a\\": [1, \\"é\\"]}"}},
                    {"id": "c2", "type": "function", "function": {"name": "g", "arguments": "not json"}},
                    {"id": "c3", "type": "function", "function": {"name": "h", "arguments": ""}}]},
                  {"role": "tool", "tool_call_id": "c2", "content": "two"},
                  {"role": "tool", "tool_call_id": "c1", "name": "stale", "content": "one"}],
                 "tools": [{"type": "function", "function": {"name": "f", "description": "날씨", "parameters":
                   {"type": "object", "properties": {"s": {"type": "string"}}}}}],
                 "args": {"thinking": false}}
                """))
        .isEqualTo(
            "<|open|>message role=\"system\" type=\"tool-declare\"<|sep|># Tools\nHere are the"
                + " available tools, described in JSONSchema.\n\n```json\n[{\"function\":{\"description\":\"날씨\",\"name\":\"f\","
                + "\"parameters\":{\"properties\":{\"s\":{\"type\":\"string\"}},\"type\":\"object\"}},\"type\":\"function\"}]\n```"
                + "<|close|>message<|sep|><|end_of_msg|>"
                + HI
                + "<|open|>message role=\"assistant\"<|sep|><|open|>response<|sep|><|close|>response<|sep|>"
                + "<|open|>tools<|sep|><|open|>call tool=\"f\" index=\"1\"<|sep|>"
                + argument("s", "string", "<é>")
                + argument("i", "number", "7")
                + argument("d", "number", "3.5")
                + argument("b", "boolean", "true")
                + argument("z", "null", "null")
                + argument("o", "object", "{\"k\": 1}")
                + argument("a", "array", "[1, \"é\"]")
                + "<|close|>call<|sep|><|open|>call tool=\"g\" index=\"2\"<|sep|>"
                + "<|open|>json type=\"object\"<|sep|>not json<|close|>json<|sep|><|close|>call<|sep|>"
                + "<|open|>call tool=\"h\" index=\"3\"<|sep|><|close|>call<|sep|><|close|>tools<|sep|>"
                + "<|close|>message<|sep|><|end_of_msg|>"
                + "<|open|>message role=\"tool\" tool=\"f\" index=\"1\"<|sep|>one<|close|>message<|sep|><|end_of_msg|>"
                + "<|open|>message role=\"tool\" tool=\"g\" index=\"2\"<|sep|>two<|close|>message<|sep|><|end_of_msg|>"
                + PLAIN_TAIL);
  }

  private static String argument(String key, String type, String value) {
    return "<|open|>argument key=\"%s\" type=\"%s\"<|sep|>%s<|close|>argument<|sep|>"
        .formatted(key, type, value);
  }

  @Test
  void resultsOfUnknownCallsStayInTheirOrder() {
    var text =
        rendered(
            """
            {"messages": [
              {"role": "assistant", "content": "", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": {}}}]},
              {"role": "tool", "tool_call_id": "x", "content": "1"},
              {"role": "tool", "tool_call_id": "a", "name": "own", "content": "2"}]}
            """);
    assertThat(text)
        .contains("tool=\"f\" index=\"1\"<|sep|>1<", "tool=\"own\" index=\"2\"<|sep|>2<");
    assertThatThrownBy(() -> rendered("{\"messages\": [{\"role\": \"tool\", \"content\": \"1\"}]}"))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("tool_call_id");
  }

  @Test
  void resultsOfFunctionsHaveTheirNames() {
    assertThat(
            rendered(
                """
                {"messages": [
                  {"role": "assistant", "content": "", "tool_calls": [{"id": "null", "function": {"name": "f"}}]},
                  {"role": "function", "name": "g", "content": "2"}],
                 "args": {"thinking": false}}
                """))
        .contains(
            "<|end_of_msg|><|open|>message role=\"tool\" tool=\"g\" index=\"1\"<|sep|>2<|close|>message<|sep|>")
        .doesNotContain("user");
  }

  @Test
  void repeatedNamesCannotMakeAHugePrompt() {
    var call = Map.of("id", "a", "function", Map.of("name", "\"".repeat(100_000)));
    var messages = new ArrayList<Map<String, Object>>();
    messages.add(Map.of("role", "assistant", "content", "", "tool_calls", List.of(call)));
    for (int i = 0; i < 30; i++) {
      messages.add(Map.of("role", "tool", "tool_call_id", "a", "content", ""));
    }
    assertTooLong(messages);
  }

  @Test
  void aNameCountsWithItsEscapes() {
    var longest = "&".repeat((16 << 20) / 5 + 1);
    assertTooLong(List.of(Map.of("role", "user", "name", longest, "content", "")));
    assertTooLong(List.of(Map.of("role", "user", "content", "a".repeat(16 << 20))));
  }

  private static void assertTooLong(List<Map<String, Object>> messages) {
    var prompt = new ChatPrompt(messages, List.of(), Map.of());
    assertThatThrownBy(() -> new KimiK3Format().render(prompt))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("more than 16777216 characters");
  }

  @Test
  void writingStopsWhenNobodyWaits() {
    Thread.currentThread().interrupt();
    try {
      assertThatThrownBy(
              () -> rendered("{\"messages\": [{\"role\": \"user\", \"content\": \"a\"}]}"))
          .isInstanceOf(InvalidRequestException.class)
          .hasMessageContaining("no longer waits");
    } finally {
      assertThat(Thread.interrupted()).isTrue();
    }
  }

  @Test
  void callsAreReadOnceAndNotForEachResult() {
    var reads = new AtomicInteger();
    var calls =
        new AbstractList<Map<String, Object>>() {
          @Override
          public Map<String, Object> get(int index) {
            reads.incrementAndGet();
            return Map.of("id", "c" + index, "function", Map.of("name", "f"));
          }

          @Override
          public int size() {
            return 100;
          }
        };
    var messages = new ArrayList<Map<String, Object>>();
    messages.add(Map.of("role", "assistant", "content", "", "tool_calls", calls));
    for (int i = 0; i < calls.size(); i++) {
      messages.add(Map.of("role", "tool", "tool_call_id", "c" + i, "content", ""));
      messages.add(Map.of("role", "user", "content", "go on"));
    }
    assertThat(new KimiK3Format().render(new ChatPrompt(messages, List.of(), Map.of())).text())
        .contains("index=\"100\"<|sep|><|close|>message");
    assertThat(reads).hasValueLessThanOrEqualTo(3 * calls.size());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '¦',
      value = {
        "{} ¦ \"tool_choice\": \"required\" ¦ tool_choice=required`. You MUST call tools in the next message.",
        "{} ¦ \"tool_choice\": \"none\" ¦ tool_choice=none`. You MUST NOT call any tools in the next message.",
        "{} ¦ \"response_format\": {\"type\": \"json_object\"} ¦ response_format=json_object`. Your response must be raw JSON data without markdown code blocks (```json) or any additional formatting.",
        "{} ¦ \"response_format\": {\"type\": \"json_schema\", \"json_schema\": {\"name\": \"n\", \"schema\": {\"type\": \"object\", \"a\": [1]}}} ¦ response_format=json_schema`. Your response must be raw JSON data without markdown code blocks (```json) or any additional formatting. The JSON data must match the following schema: ```json {\"a\":[1],\"type\":\"object\"} ```",
      })
  void demandsOfTheRequestStandBehindTheMessages(String tool, String field, String expected) {
    var text =
        rendered(
            """
            {"messages": [{"role": "user", "content": "hi"}], "args": {"thinking": false}, "tools": [%s], %s}
            """
                .formatted(tool, field));
    assertThat(text.substring(text.indexOf(HI)).replace('\n', ' '))
        .isEqualTo(
            HI
                + "<|open|>message role=\"system\" type=\""
                + (field.contains("tool_choice") ? "tool-choice" : "response-format")
                + "\"<|sep|>The system is invoked with `"
                + expected
                + "<|close|>message<|sep|><|end_of_msg|>"
                + PLAIN_TAIL);
  }

  @Test
  void noCallsAreForbiddenWhereThereAreNoTools() {
    assertThat(
            rendered(
                """
                {"messages": [{"role": "user", "content": "hi"}], "args": {"thinking": false},
                 "tool_choice": "none", "response_format": {"type": "text"}}
                """))
        .isEqualTo(HI + PLAIN_TAIL);
  }

  @Test
  void mediaAreRefused() {
    assertThatThrownBy(
            () ->
                rendered(
                    """
                    {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]}
                    """))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("image_url");
  }

  @Test
  void modelsOfTheTypeAreWrittenToWithoutTemplate() throws IOException {
    var files =
        Map.of(
            "tiktoken.model", TokenizerKindsTest.resource("tiktoken/tiktoken.model"),
            "tokenizer_config.json", TokenizerKindsTest.resource("tiktoken/tokenizer_config.json"),
            "config.json", "{\"model_type\": \"kimi_k3\"}");
    try (var model = HuggingFaceText.of(files)) {
      var prompt =
          new ChatPrompt(
              List.of(Map.of("role", "user", "content", "hi")),
              List.of(),
              Map.of("enable_thinking", false, "add_generation_prompt", false));
      assertThat(model.render(prompt).text()).isEqualTo(HI);
    }
  }
}
