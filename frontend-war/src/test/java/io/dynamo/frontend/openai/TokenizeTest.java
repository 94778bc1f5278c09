package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.frontend.sse.FakeHangUps;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The routes that turn text into tokens and back. */
class TokenizeTest {
  private final FrontendFixture frontend =
      new FrontendFixture(Duration.ofSeconds(30), FakeHangUps.unwatched(), 32 << 20);

  @BeforeEach
  void tokenize() {
    frontend.api = TextService.TOKENIZE;
    frontend.promptIds = new int[] {72, 105};
  }

  @AfterEach
  void close() {
    frontend.closeIdle();
  }

  @Test
  void aTextIsAnsweredWithItsTokens() {
    assertThat(frontend.post("{\"model\":\"script\",\"prompt\":\"Hi\"}").text())
        .isEqualTo("{\"count\":2,\"max_model_len\":1000,\"tokens\":[72,105],\"token_strs\":null}");
    assertThat(frontend.encoded).isEqualTo("Hi");
    assertThat(frontend.asked).isNull();
  }

  @Test
  void theTextsOfTokensAreGivenWhenTheyAreWanted() {
    assertThat(frontend.post("{\"prompt\":\"Hi\",\"return_token_strs\":true}").text())
        .contains("\"token_strs\":[\"H\",\"i\"]");
  }

  @Test
  void aConversationIsTokenizedAsTheModelSeesIt() {
    var conversation =
        "{\"model\":\"script\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]%s}";

    frontend.post(conversation.formatted(""));
    assertThat(frontend.encoded).contains("user\nHi").endsWith("assistant\n");

    frontend.post(conversation.formatted(",\"add_generation_prompt\":false"));
    assertThat(frontend.encoded).contains("user\nHi").doesNotContain("assistant");
  }

  @Test
  void modelsOfAnyTypeAreAsked() {
    frontend.modelTypes = Set.of("Embedding");

    assertThat(frontend.post("{\"model\":\"script\",\"prompt\":\"Hi\"}").status).isEqualTo(200);
    assertThat(frontend.post("{\"model\":\"nobody\",\"prompt\":\"Hi\"}").status).isEqualTo(404);
  }

  @Test
  void fieldsOfAnotherApiAreRefused() {
    assertThat(frontend.post("{\"prompt\":\"Hi\",\"max_tokens\":1}").text())
        .contains("`max_tokens`");
    assertThat(frontend.post("{\"prompt\":\"Hi\",\"messages\":[]}").status).isEqualTo(400);
    assertThat(frontend.post("{\"prompt\":\"Hi\",\"add_special_tokens\":true}").text())
        .contains("special tokens are never added here");
    assertThat(frontend.post("{\"model\":\"script\"}").text()).contains("missing field `prompt`");
  }

  @Test
  void aListThatIsTooLongIsRefused() {
    frontend.promptIds = new int[(1 << 20) + 1];

    assertThat(frontend.post("{\"prompt\":\"Hi\"}").text())
        .contains("1048577 tokens, at most 1048576 are listed");
  }

  @Test
  void tokensAreAnsweredWithTheirText() {
    frontend.api = TextService.DETOKENIZE;

    assertThat(frontend.post("{\"model\":\"script\",\"tokens\":[72,233,105]}").text())
        .isEqualTo("{\"prompt\":\"Héi\"}");
    assertThat(frontend.post("{\"tokens\":[]}").text()).isEqualTo("{\"prompt\":\"\"}");
  }

  @Test
  void tokensBeyondTheVocabularyAreRefused() {
    frontend.api = TextService.DETOKENIZE;

    assertThat(frontend.post("{\"tokens\":[1,4294967295]}").text())
        .contains("tokens[1] is 4294967295, and the vocabulary has 1114112 tokens");
    assertThat(frontend.post("{\"tokens\":[-1]}").status).isEqualTo(400);
    assertThat(frontend.post("{\"tokens\":\"x\"}").status).isEqualTo(400);
  }

  @Test
  void aTextThatIsTooLongIsRefused() {
    frontend.api = TextService.DETOKENIZE;
    frontend.tokenCopies = 256;
    var tokens = "65536,".repeat(1 << 14); // of 1 KiB each

    assertThat(frontend.post("{\"tokens\":[" + tokens + "65536]}").text())
        .contains("the text would be longer than 16777216 bytes");
  }
}
