package io.dynamo.frontend.preprocess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.json.Json;
import io.dynamo.metrics.Metrics;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Prompts in the forms that the models' published encoders give them. */
class DeepSeekFormatTest {
  private static final PromptFormat V32 = new DeepSeekV32Format();
  private static final PromptFormat V4 = new DeepSeekV4Format();
  private static final Map<String, Object> PLAIN = Map.of("thinking", false);

  static Stream<Arguments> published() throws IOException {
    Map<String, @Nullable Object> models;
    try (var in = DeepSeekFormatTest.class.getResourceAsStream("/deepseek.json")) {
      models =
          parsed(new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8));
    }
    return Stream.of(Map.entry("deepseek_v32", V32), Map.entry("deepseek_v4", V4))
        .flatMap(
            model ->
                objects(models.get(model.getKey())).stream()
                    .map(it -> Arguments.of(model.getKey(), it.get("name"), model.getValue(), it)));
  }

  @ParameterizedTest(name = "{0}: {1}")
  @MethodSource("published")
  void promptsAreThoseOfThePublishedEncoder(
      String model, String name, PromptFormat format, Map<String, Object> expected) {
    var form = expected.get("response_format");
    assertThat(
            format
                .render(
                    new ChatPrompt(
                        objects(expected.get("messages")),
                        objects(expected.get("tools")),
                        named(expected.get("args")),
                        form == null ? null : named(form),
                        null))
                .text())
        .as("%s %s", model, name)
        .isEqualTo(expected.get("prompt"));
  }

  private static Map<String, @Nullable Object> parsed(String json) {
    return Json.readObject(json.getBytes(StandardCharsets.UTF_8)).members();
  }

  @SuppressWarnings("unchecked") // members of JSON are named by text
  private static Map<String, Object> named(@Nullable Object map) {
    return map == null ? Map.of() : (Map<String, Object>) map;
  }

  private static List<Map<String, Object>> objects(@Nullable Object list) {
    var objects = new ArrayList<Map<String, Object>>();
    if (list instanceof List<?> items) {
      items.forEach(item -> objects.add(named(item)));
    }
    return objects;
  }

  private static String rendered(PromptFormat format, String messages, Map<String, Object> args) {
    var list = objects(parsed("{\"messages\": " + messages + "}").get("messages"));
    return format.render(new ChatPrompt(list, List.of(), args)).text();
  }

  @ParameterizedTest
  @CsvSource({
    "other, true, true",
    "thinking, true, true",
    "thinking, false, false",
    "enable_thinking, false, false",
    "thinking_mode, chat, false",
    "thinking_mode, thinking, true",
    "thinking_mode, disabled, false",
    "thinking_mode, adaptive, true",
    "reasoning_effort, none, false",
    "reasoning_effort, low, true"
  })
  void modelsThinkUnlessToldOtherwise(String key, String value, boolean thinks) {
    Object json =
        value.equals("true") || value.equals("false") ? Boolean.valueOf(value) : (Object) value;
    for (var format : List.of(V32, V4)) {
      assertThat(rendered(format, "[{\"role\": \"user\", \"content\": \"a\"}]", Map.of(key, json)))
          .endsWith("<｜User｜>a<｜Assistant｜>" + (thinks ? "<think>" : "</think>"));
    }
  }

  @Test
  void noAnswerIsOpenedWhereNoneIsAskedFor() {
    var args = Map.<String, Object>of("add_generation_prompt", false);
    for (var format : List.of(V32, V4)) {
      assertThat(
              rendered(
                  format,
                  """
                  [{"role": "user", "content": "a"}, {"role": "assistant", "content": "", "tool_calls": [
                    {"id": "x", "function": {"name": "f", "arguments": {}}}]},
                   {"role": "tool", "tool_call_id": "x", "content": "1"}]
                  """,
                  args))
          .contains("<｜User｜>a<｜Assistant｜>")
          .matches("(?s).*_results?>");
    }
  }

  @Test
  void partsOfTextAreJoinedAndMediaRefused() {
    for (var format : List.of(V32, V4)) {
      assertThat(
              rendered(
                  format,
                  """
                  [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}]
                  """,
                  PLAIN))
          .endsWith("<｜User｜>ab<｜Assistant｜></think>");
      assertThatThrownBy(
              () ->
                  rendered(
                      format,
                      """
                      [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]
                      """,
                      PLAIN))
          .isInstanceOf(InvalidRequestException.class)
          .hasMessageContaining("image_url");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "[{\"role\": \"critic\", \"content\": \"x\"}]",
        "[{\"role\": \"developer\", \"content\": \"\"}]",
        "[{\"role\": \"user\", \"content\": {\"a\": 1}}]"
      })
  void messagesWithoutPlaceAreRefused(String messages) {
    for (var format : List.of(V32, V4)) {
      assertThatThrownBy(() -> rendered(format, messages, PLAIN))
          .isInstanceOf(InvalidRequestException.class);
    }
  }

  @Test
  void resultsOfV32AreSortedClosedAndNoMoreThanCalls() {
    var calls =
        """
        {"role": "user", "content": "a"}, {"role": "assistant", "content": "", "tool_calls": [
          {"id": "x", "function": {"name": "f", "arguments": "{}"}},
          {"id": "y", "function": {"name": "g", "arguments": "no JSON"}}]},
        """;
    var second = "{\"role\": \"tool\", \"tool_call_id\": \"y\", \"content\": \"2\"}";
    var first = "{\"role\": \"tool\", \"tool_call_id\": \"x\", \"content\": \"1\"}";
    assertThat(rendered(V32, "[" + calls + second + "," + first + "]", PLAIN))
        .contains("<｜DSML｜parameter name=\"arguments\" string=\"true\">no JSON</｜DSML｜parameter>")
        .endsWith(
            "<function_results>\n<result>1</result>\n<result>2</result>\n</function_results>\n\n</think>");
    assertThat(rendered(V32, "[" + calls + first + "]", PLAIN))
        .endsWith("\n<result>1</result>\n</function_results>\n\n</think>");
    assertThatThrownBy(() -> rendered(V32, "[" + first + "]", PLAIN))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("with 0 tool calls");
  }

  @ParameterizedTest
  @CsvSource({"deepseek_v32", "deepseek_v3_2", "deepseek_v4"})
  void modelsOfTheTypesAreWrittenToWithoutTemplate(String type) throws IOException {
    var files = new HashMap<String, String>();
    files.put("tokenizer.json", TokenizerKindsTest.resource("byte_level.json"));
    files.put("config.json", "{\"model_type\": \"%s\"}".formatted(type));
    var prompt = new ChatPrompt(List.of(Map.of("role", "user", "content", "hi")), List.of(), PLAIN);
    try (var model = HuggingFaceText.of(files)) {
      assertThat(model.render(prompt).text())
          .isEqualTo("<｜begin▁of▁sentence｜><｜User｜>hi<｜Assistant｜></think>");
    }
    files.put("chat_template.jinja", "{{ messages[0].content }}");
    try (var model = HuggingFaceText.of(files)) {
      assertThat(model.render(prompt).text()).isEqualTo("hi");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "deepseek-ai/DeepSeek-V3.2, true",
    "DeepSeek-V4-Flash, true",
    "deepseek_v4, true",
    "deepseek-ai/DeepSeek-V3.2-Exp, false",
    "deepseek-v40, false",
    "my-deepseek-v4, false",
    "other, false"
  })
  void aNameTellsTheFormatWhereTheTypeDoesNot(String name, boolean known) throws IOException {
    var files = new HashMap<String, String>();
    files.put("tokenizer.json", TokenizerKindsTest.resource("byte_level.json"));
    files.put("config.json", "{\"model_type\": \"deepseek_v3\"}");
    var prompt = new ChatPrompt(List.of(Map.of("role", "user", "content", "hi")), List.of(), PLAIN);
    try (var model = HuggingFaceText.of(files, name, new PrefixCache(1 << 20, new Metrics()))) {
      if (known) {
        assertThat(model.render(prompt).text())
            .isEqualTo("<｜begin▁of▁sentence｜><｜User｜>hi<｜Assistant｜></think>");
      } else {
        assertThatThrownBy(() -> model.render(prompt)).hasMessageContaining("no chat template");
      }
    }
  }
}
