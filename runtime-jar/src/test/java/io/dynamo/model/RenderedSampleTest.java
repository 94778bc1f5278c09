package io.dynamo.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RenderedSampleTest {
  private static ModelCard card(Map<String, @Nullable Object> runtimeConfig) {
    return new ModelCard(
        "m",
        "m",
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        0,
        16,
        0,
        Set.of("Chat"),
        "Tokens",
        null,
        List.of(),
        runtimeConfig);
  }

  private static ModelCard withSample(Object sample) {
    return card(Map.of("runtime_data", Map.of("rendered_sample", sample)));
  }

  @Test
  void aConversationAndATextAreReadBackFromTheCard() {
    var conversation = RenderedSample.ofConversation(List.of(1, 2, 3));
    assertThat(RenderedSample.of(card(Map.of("runtime_data", conversation.runtimeData()))))
        .isEqualTo(conversation);
    assertThat(conversation.messages()).isEqualTo(RenderedSample.MESSAGES);
    var text = RenderedSample.ofText(List.of(7));
    assertThat(RenderedSample.of(card(Map.of("runtime_data", text.runtimeData())))).isEqualTo(text);
    assertThat(text.text()).isEqualTo(RenderedSample.TEXT);
  }

  @Test
  void cardsWithoutASampleHaveNone() {
    assertThat(RenderedSample.of(card(Map.of()))).isNull();
    assertThat(RenderedSample.of(card(Map.of("runtime_data", "text")))).isNull();
    assertThat(RenderedSample.of(card(Map.of("runtime_data", Map.of("other", 1))))).isNull();
  }

  @ParameterizedTest
  @ValueSource(strings = {"a text", "1.5", "-1", "ids"})
  void idsThatAreNoneAreRefused(String kind) {
    Object id =
        switch (kind) {
          case "1.5" -> 1.5;
          case "-1" -> -1;
          default -> kind;
        };
    assertThatThrownBy(() -> RenderedSample.ofText(List.of(1, id)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(id.toString());
  }

  @Test
  void samplesOfOtherFormsAndSizesAreRefused() {
    var message = Map.of("role", "user", "content", "x");
    var tooMany = Collections.nCopies(RenderedSample.MAX_TOKENS + 1, 1);
    for (var sample :
        List.of(
            "no object",
            Map.of("token_ids", List.of(1)),
            Map.of("text", "a", "messages", List.of(message), "token_ids", List.of(1)),
            Map.of("text", "a", "token_ids", "1"),
            Map.of("text", "a", "token_ids", tooMany),
            Map.of("text", "a".repeat(5000), "token_ids", List.of(1)),
            Map.of("messages", Collections.nCopies(9, message), "token_ids", List.of(1)),
            Map.of(
                "messages",
                List.of(Map.of("role", "user", "content", "a".repeat(5000))),
                "token_ids",
                List.of(1)),
            Map.of("messages", List.of(Map.of("role", "user")), "token_ids", List.of(1)))) {
      assertThatThrownBy(() -> RenderedSample.of(withSample(sample)))
          .as(sample.toString())
          .isInstanceOf(IllegalArgumentException.class);
    }
  }
}
