package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.frontend.openai.wire.ChatRequestReader;
import io.dynamo.frontend.openai.wire.JsonBody;
import io.dynamo.frontend.preprocess.ChatPrompt;
import io.dynamo.frontend.preprocess.NoText;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ParsedChatTest {
  /** Renders the form of the answer alone. */
  private static final class FormText extends NoText {
    @Override
    public String render(ChatPrompt prompt) {
      return String.valueOf(prompt.responseFormat());
    }

    @Override
    public int[] encode(String text, int maxTokens) {
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
    ChatDialect dialect =
        (_, _, _, _) -> {
          throw new AssertionError("not answered here");
        };
    assertThat(new ParsedChat(request, dialect).prepare(new FormText(), true).getFirst().text())
        .isEqualTo(told);
  }
}
