package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.inference.GenerateRequest;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Requests to workers of models that think. */
class ReasoningRequestsTest {
  private static final String GUIDED = ",\"response_format\":{\"type\":\"json_object\"}";

  private final FrontendFixture frontend = new FrontendFixture();

  @AfterEach
  void close() {
    frontend.close();
  }

  private GenerateRequest asked(String fields) {
    frontend.post(
        "{\"model\":\"script\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]%s}"
            .formatted(fields));
    return Objects.requireNonNull(frontend.asked);
  }

  @Test
  void aGuidedAnswerWaitsForTheThoughts() {
    frontend.runtimeConfig = Map.of("reasoning_parser", "qwen3");
    assertThat(asked(GUIDED).passedOn().get("require_reasoning")).isEqualTo(true);
    assertThat(asked("").passedOn().get("require_reasoning")).as("not guided").isNull();
    assertThat(asked(GUIDED + ",\"thinking\":false").passedOn().get("require_reasoning"))
        .as("without thoughts")
        .isNull();
  }

  @Test
  void modelsWithoutThoughtsWaitForNone() {
    var asked = asked(GUIDED + ",\"chat_template_args\":{\"a\":1}");
    assertThat(asked.passedOn().get("require_reasoning")).isNull();
    assertThat(asked.extraArgs()).doesNotContainKey("reasoning_parser_kwargs");
  }

  @Test
  void theEnginesParserKnowsWhatTheTemplateWasTold() {
    frontend.runtimeConfig = Map.of("reasoning_parser", "deepseek_r1");
    assertThat(asked(",\"reasoning_effort\":\"none\"").extraArgs())
        .containsEntry(
            "reasoning_parser_kwargs",
            Map.of(
                "chat_template_kwargs",
                Map.of(
                    "thinking",
                    false,
                    "enable_thinking",
                    false,
                    "thinking_mode",
                    "disabled",
                    "reasoning_effort",
                    "none")));
    assertThat(asked("").extraArgs()).doesNotContainKey("reasoning_parser_kwargs");
  }
}
