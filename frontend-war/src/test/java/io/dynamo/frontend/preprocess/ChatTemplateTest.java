package io.dynamo.frontend.preprocess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.json.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ChatTemplateTest {
  private static final Map<String, String> TOKENS = Map.of("bos_token", "<s>", "eos_token", "</s>");
  private static final List<Map<String, Object>> IMAGE_AND_TEXT =
      List.of(
          Map.of("type", "image_url", "image_url", Map.of("url", "data:image/png;base64,AAAA")),
          Map.of("type", "text", "text", "what is it?"));

  private static ChatTemplate template(String name) throws IOException {
    try (var in = ChatTemplateTest.class.getResourceAsStream("/templates/" + name + ".jinja")) {
      var source =
          new String(Objects.requireNonNull(in, name).readAllBytes(), StandardCharsets.UTF_8);
      return new ChatTemplate(source, source, TOKENS);
    }
  }

  private static String render(ChatTemplate template, Object content, Map<String, Object> more) {
    var message = new HashMap<String, Object>(more);
    message.putIfAbsent("role", "user");
    message.put("content", content);
    return template.render(new ChatPrompt(List.of(message), List.of(), Map.of())).text();
  }

  @ParameterizedTest
  @CsvSource({
    "gemma, <start_of_image>what is it?",
    "glm, <|begin_of_image|><|image|><|end_of_image|>what is it?",
    "qwen25, '<image>\nwhat is it?'",
    "llama3, '<image>\nwhat is it?'",
    "phi, '<image>\nwhat is it?'"
  })
  void imagesBecomeThePlaceholderOfTheTemplateOrAName(String name, String expected)
      throws IOException {
    assertThat(render(template(name), IMAGE_AND_TEXT, Map.of()))
        .contains(expected)
        .doesNotContain("AAAA");
  }

  @ParameterizedTest
  @ValueSource(strings = {"gemma", "glm", "qwen25", "llama3", "mistral", "phi", "deepseek"})
  void partsOfTextAreOneText(String name) throws IOException {
    var parts = List.of(Map.of("type", "text", "text", "a"), Map.of("type", "text", "text", "b"));

    assertThat(render(template(name), parts, Map.of()))
        .isEqualTo(render(template(name), "a\nb", Map.of()));
  }

  @Test
  void aTemplateThatWantsPartsGetsThem() {
    var source =
        "{% for part in messages[0].content %}{{ part.text or '(' ~ part.type ~ ')' }};{% endfor"
            + " %}";
    var template = new ChatTemplate(source, source, TOKENS);

    assertThat(render(template, IMAGE_AND_TEXT, Map.of())).isEqualTo("(image);what is it?;");
  }

  @Test
  void reasoningIsInlinedWhereTheTemplateNeverReadsIt() throws IOException {
    var more = Map.<String, Object>of("role", "assistant", "reasoning_content", "2+2");

    assertThat(render(template("qwen25"), "4", more)).contains("assistant\n<think>2+2</think>4<");
    assertThat(render(template("qwen3"), "4", more))
        .contains("assistant\n4<") // a thought before the last question is left out there
        .doesNotContain("2+2");
  }

  @Test
  void reasoningIsReadUnderBothNames() throws IOException {
    var args = Map.<String, Object>of("add_generation_prompt", false);
    var message =
        Map.<String, Object>of("role", "assistant", "content", "4", "reasoning_content", "2+2");
    var prompt = new ChatPrompt(List.of(message), List.of(), args);

    assertThat(template("gpt_oss").render(prompt).text())
        .endsWith(
            "analysis<|message|>2+2<|end|><|start|>assistant<|channel|>final<|message|>4<|return|>");
  }

  @Test
  void aRefusalCarriesTheTemplatesOwnText() throws IOException {
    var template = template("llama3");
    var calls = List.of(Map.of("function", Map.of()), Map.of("function", Map.of()));
    var message = Map.<String, Object>of("role", "assistant", "content", "", "tool_calls", calls);
    var prompt = new ChatPrompt(List.of(message), List.of(), Map.of());

    assertThatThrownBy(() -> template.render(prompt))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessage("This model only supports single tool-calls at once!");
  }

  /** The text of a template behind Dynamo 1.6.1. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '¦',
      quoteCharacter = '`',
      textBlock =
          """
          {"function":{"parameters":{"required":["b"],"properties":{"b":{"description":"x","type":"string"}},"type":"object"},"strict":false,"zzz":1,"description":"d","name":"g"},"extra":1,"type":"function"} ¦ {"type": "function", "function": {"name": "g", "description": "d", "parameters": {"required": ["b"], "properties": {"b": {"description": "x", "type": "string"}}, "type": "object"}, "strict": false}}
          {"type":"function","function":{"name":"g"}} ¦ {"type": "function", "function": {"name": "g", "description": ""}}
          {"type":"function","function":{"name":"g","description":null,"parameters":null,"strict":null}} ¦ {"type": "function", "function": {"name": "g", "description": ""}}
          {"type":"function","function":{"strict":true,"parameters":{"additionalProperties":false},"name":"g"}} ¦ {"type": "function", "function": {"name": "g", "parameters": {"additionalProperties": false, "type": "object", "properties": {}}, "strict": true, "description": ""}}
          {"type":"function","function":{"name":"g","parameters":{}}} ¦ {"type": "function", "function": {"name": "g", "parameters": {"type": "object", "properties": {}}, "description": ""}}
          {"type":"function","function":{"name":"g","parameters":{"type":null,"properties":null}}} ¦ {"type": "function", "function": {"name": "g", "parameters": {"type": null, "properties": null}, "description": ""}}
          {"type":"function","function":{"name":"g","description":"x","strict":true}} ¦ {"type": "function", "function": {"name": "g", "description": "x", "strict": true}}
          """)
  void toolsHaveDynamosFieldsInItsOrder(String given, String printed) {
    var source = "{{ tools[0] | tojson }}";
    var template = new ChatTemplate(source, source, TOKENS);
    var tool = new LinkedHashMap<String, Object>();
    Objects.requireNonNull(Json.objectOrNull(given))
        .forEach((key, value) -> tool.put(String.valueOf(key), value));
    var prompt = new ChatPrompt(List.of(), List.of(tool), Map.of());

    assertThat(template.render(prompt).text()).isEqualTo(printed);
  }

  @Test
  void argumentsOfTheTemplateSwitchItsThinking() throws IOException {
    var message = Map.<String, Object>of("role", "user", "content", "t");
    var off = new ChatPrompt(List.of(message), List.of(), Map.of("enable_thinking", false));
    var unset = new ChatPrompt(List.of(message), List.of(), Map.of());

    assertThat(template("qwen3").render(off).text()).endsWith("<think>\n\n</think>\n\n");
    assertThat(template("qwen3").render(unset).text()).endsWith("<|im_start|>assistant\n");
    assertThat(template("glm").render(off).text())
        .contains("t/nothink")
        .endsWith("<think></think>");
  }
}
