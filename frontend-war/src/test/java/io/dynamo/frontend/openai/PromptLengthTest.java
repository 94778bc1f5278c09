package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.frontend.sse.FakeHangUps;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Prompts that cannot fit a model are refused before they are encoded: its context is 1000 tokens,
 * of ten characters at most.
 */
class PromptLengthTest {
  private static final int CONTEXT = 1000;
  private static final int COUNTED = 2 * CONTEXT; // tokens, of prompts that are too long
  private static final int TOKEN_CHARS = 10;

  private final FrontendFixture frontend =
      new FrontendFixture(Duration.ofSeconds(30), FakeHangUps.unwatched(), 1 << 20);

  @AfterEach
  void close() {
    frontend.closeIdle();
  }

  private FrontendFixture.Recorded ask(Api api, int chars) {
    frontend.api = api;
    frontend.maxTokenChars = TOKEN_CHARS;
    frontend.items = List.of(new EngineOutput(new int[1], "a", FinishReason.EOS, null, 0, null));
    frontend.encoded = null;
    var text = "\"" + "a".repeat(chars) + "\"";
    return frontend.post(
        api.equals(TextService.CHAT)
            ? "{\"model\":\"script\",\"messages\":[{\"role\":\"user\",\"content\":" + text + "}]}"
            : "{\"model\":\"script\",\"prompt\":[\"b\"," + text + "]}");
  }

  private static Api api(String name) {
    return name.equals("chat") ? TextService.CHAT : TextService.COMPLETIONS;
  }

  @ParameterizedTest
  @ValueSource(strings = {"chat", "completions"})
  void promptsTooLongForTheContextAreRefusedBeforeEncoding(String name) {
    var answer = ask(api(name), (COUNTED + 1) * TOKEN_CHARS);
    assertThat(answer.status).isEqualTo(400);
    assertThat(answer.text())
        .contains(
            "maximum context length is 1000 tokens",
            " or more; shorten",
            "context_length_exceeded");
    assertThat(frontend.encoded).isIn(null, "b");
  }

  @ParameterizedTest
  @ValueSource(strings = {"chat", "completions"})
  void promptsThatMayFitAreEncoded(String name) {
    assertThat(ask(api(name), (COUNTED - 10) * TOKEN_CHARS).status).isEqualTo(200);
    assertThat(frontend.encoded).contains("aaa");
  }

  @Test
  void tokensAreCountedOnlyUpToTwiceTheContext() {
    frontend.promptTokens = COUNTED;
    assertThat(ask(TextService.CHAT, 10).text()).contains("the prompt has 2000;");
    frontend.promptTokens = COUNTED + 5;
    assertThat(ask(TextService.CHAT, 10).text()).contains("the prompt has 2001 or more;");
  }

  @Test
  void aWorkerThatWantsToRefuseItselfIsLetTo() {
    frontend.runtimeConfig =
        Map.of("runtime_data", Map.of("token_budget", Map.of("combined_limit", CONTEXT)));
    assertThat(ask(TextService.CHAT, 3 * COUNTED * TOKEN_CHARS).status).isEqualTo(200);
  }

  @Test
  void givenTokensAreNoText() {
    frontend.maxTokenChars = 1;
    frontend.items = List.of(new EngineOutput(new int[1], "a", FinishReason.EOS, null, 0, null));
    var answer =
        frontend.post(
            "{\"model\":\"script\",\"nvext\":{\"token_data\":[1,2]},\"messages\":[{\"role\":"
                + "\"user\",\"content\":\""
                + "a".repeat(5000)
                + "\"}]}");
    assertThat(answer.status).isEqualTo(200);
  }
}
