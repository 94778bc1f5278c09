package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.frontend.openai.wire.ChatRequestReader;
import io.dynamo.frontend.openai.wire.JsonBody;
import io.dynamo.frontend.preprocess.ChatPrompt;
import io.dynamo.frontend.preprocess.HuggingFaceText;
import io.dynamo.frontend.preprocess.NoText;
import io.dynamo.frontend.preprocess.PromptText;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ParsedChatTest {
  private static final ChatDialect UNANSWERED =
      (_, _, _, _) -> {
        throw new AssertionError("not answered here");
      };

  /** Renders the form of the answer alone. */
  private static final class FormText extends NoText {
    @Override
    public PromptText render(ChatPrompt prompt) {
      return PromptText.whole(String.valueOf(prompt.responseFormat()));
    }

    @Override
    public int[] encode(PromptText prompt, int maxTokens) {
      return new int[0];
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '¦',
      value = {
        "{\"type\": \"json_object\"} ¦ {type=json_object}",
        "{\"type\": \"text\"}        ¦ null",
        "null                        ¦ null"
      })
  void thePromptIsToldOfTheAnswersForm(String given, String told) {
    var body =
        "{\"model\": \"m\", \"messages\": [{\"role\": \"user\", \"content\": \"a\"}], \"response_format\": %s}"
            .formatted(given)
            .getBytes(StandardCharsets.UTF_8);
    var request = ChatRequestReader.read(JsonBody.parse(body));
    assertThat(new ParsedChat(request, UNANSWERED).prepare(new FormText(), true).getFirst().text())
        .isEqualTo(told);
  }

  private static final String OPENED =
      "<|open|>message role=\"assistant\"<|sep|><|open|>response<|sep|>";

  @ParameterizedTest
  @CsvSource(
      value = {
        "and then  ,and then",
        "e,e",
        "<|end_of_msg|>,<|end_of_msg|>",
        "|>,|>",
        "a\\u0000<|sep|>,a<|sep|>"
      })
  void theFinalMessageStaysOpenWithoutControlTokensOfItsOwn(String content, String end)
      throws IOException {
    var body =
        """
        {"model": "m", "continue_final_message": true, "add_generation_prompt": false,
         "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "%s"}],
         "chat_template_args": {"thinking": false}}"""
            .formatted(content)
            .getBytes(StandardCharsets.UTF_8);
    var chat = new ParsedChat(ChatRequestReader.read(JsonBody.parse(body)), UNANSWERED);
    try (var model = HuggingFaceText.of(kimi())) {
      var prompt = chat.prepare(model, true).getFirst();

      assertThat(prompt.text()).endsWith(OPENED + end);
      assertThat(prompt.tokens())
          .as("those of the message of the user and before the answer")
          .satisfies(ids -> assertThat(Arrays.stream(ids).filter(id -> id >= 1500)).hasSize(9));
    }
  }

  @Test
  void noPartsAreNoText() throws IOException {
    var chat =
        new ParsedChat(
            ChatRequestReader.read(
                JsonBody.parse(
                    "{\"model\": \"m\", \"messages\": [{\"role\": \"user\", \"content\": []}]}"
                        .getBytes(StandardCharsets.UTF_8))),
            UNANSWERED);
    var template =
        Map.of(
            "tiktoken.model",
            resource("tiktoken.model"),
            "config.json",
            "{\"model_type\": \"kimi_k2\"}",
            "chat_template.jinja",
            "{% for m in messages %}({{ m.content }}){% endfor %}");
    try (var kimi = HuggingFaceText.of(kimi());
        var other = HuggingFaceText.of(template)) {
      assertThat(chat.prepare(kimi, true).getFirst().text())
          .contains("<|open|>message role=\"user\"<|sep|><|close|>message<|sep|><|end_of_msg|>");
      assertThat(chat.prepare(other, true).getFirst().text()).isEqualTo("([])");
    }
  }

  @ParameterizedTest
  @CsvSource({"required, MUST call", "none, MUST NOT call"})
  void theToolChoiceIsInThePrompt(String choice, String words) throws IOException {
    var body =
        """
        {"model": "m", "messages": [{"role": "user", "content": "hi"}], "tool_choice": "%s",
         "tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}]}"""
            .formatted(choice)
            .getBytes(StandardCharsets.UTF_8);
    var chat = new ParsedChat(ChatRequestReader.read(JsonBody.parse(body)), UNANSWERED);
    try (var model = HuggingFaceText.of(kimi())) {
      assertThat(chat.prepare(model, false).getFirst().text()).contains(words);
      assertThat(String.valueOf(chat.prepare(model, true).getFirst().text()).contains(words))
          .as("with tools hidden")
          .isEqualTo(choice.equals("required"));
    }
  }

  private static Map<String, String> kimi() throws IOException {
    return Map.of(
        "tiktoken.model",
        resource("tiktoken.model"),
        "tokenizer_config.json",
        """
        {"added_tokens_decoder": {"1500": {"content": "<|open|>"}, "1501": {"content": "<|close|>"},
          "1502": {"content": "<|sep|>"}, "1503": {"content": "<|end_of_msg|>"}}}""",
        "config.json",
        "{\"model_type\": \"kimi_k3\"}");
  }

  private static String resource(String name) throws IOException {
    try (var in = ParsedChatTest.class.getResourceAsStream("/tokenizers/tiktoken/" + name)) {
      return new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
