package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.errors.BadRequestException;
import com.openai.errors.NotFoundException;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.conversations.ConversationCreateParams;
import com.openai.models.embeddings.Embedding;
import com.openai.models.embeddings.EmbeddingCreateParams;
import com.openai.models.responses.ResponseCreateParams;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** OpenAI's SDK for Java, unmodified. */
@BuildServer
class OpenAiJavaSdkIT {
  @AutoClose
  private final OpenAIClient openai =
      OpenAIOkHttpClient.builder()
          .baseUrl(System.getProperty("base.url") + "/v1")
          .apiKey("none")
          .maxRetries(0)
          .build();

  @Test
  void listsTheModel() {
    assertThat(openai.models().list().data()).anyMatch(model -> model.id().equals(Cluster.MODEL));
  }

  @Test
  void modelThatShipsAlongAnswers() {
    var params =
        ChatCompletionCreateParams.builder()
            .model(Cluster.MODEL)
            .temperature(0)
            .addUserMessage("What is the capital of France?")
            .build();

    var answer = openai.chat().completions().create(params).choices().getFirst();

    assertThat(answer.message().content()).contains("The capital of France is Paris.");
  }

  @Test
  void modelThatShipsAlongEmbeds() {
    var params =
        EmbeddingCreateParams.builder()
            .model(Cluster.MODEL)
            .inputOfArrayOfStrings(List.of("Hello", "Hello there"))
            .dimensions(16)
            .build();

    var answer = openai.embeddings().create(params);

    assertThat(answer.data()).extracting(Embedding::index).containsExactly(0L, 1L);
    for (var item : answer.data()) {
      assertThat(item.embedding()).hasSize(16);
      assertThat(item.embedding().stream().mapToDouble(number -> number * number).sum())
          .isCloseTo(1, within(1e-4));
    }
    assertThat(answer.usage().promptTokens()).isPositive();
  }

  @Test
  void streamAddsUpToTheUnaryAnswer() {
    var params = ask(Cluster.MODEL, 24).build();
    var unary = openai.chat().completions().create(params);

    var streamed = new StringBuilder();
    try (var stream = openai.chat().completions().createStreaming(params)) {
      stream.stream()
          .flatMap(chunk -> chunk.choices().stream())
          .forEach(choice -> choice.delta().content().ifPresent(streamed::append));
    }

    assertThat(streamed.toString())
        .isNotEmpty()
        .isEqualTo(unary.choices().getFirst().message().content().orElseThrow());
    assertThat(unary.usage().orElseThrow().completionTokens()).isBetween(1L, 24L);
  }

  @Test
  void logprobsAreThoseOfTheText() {
    var params = ask(Cluster.MODEL, 24).logprobs(true).topLogprobs(2).build();
    var choice = openai.chat().completions().create(params).choices().getFirst();

    var tokens = choice.logprobs().orElseThrow().content().orElseThrow();
    assertThat(String.join("", tokens.stream().map(token -> token.token()).toList()))
        .startsWith(choice.message().content().orElseThrow()); // the end of the turn is one too
    assertThat(tokens)
        .allSatisfy(
            token -> {
              assertThat(token.logprob()).isLessThanOrEqualTo(0);
              assertThat(token.topLogprobs()).hasSize(2);
            });
  }

  @Test
  void cancelledStreamLeavesTheServerInOrder() {
    try (var stream =
        openai.chat().completions().createStreaming(ask(Cluster.MODEL, 400).build())) {
      assertThat(stream.stream().findFirst()).isPresent();
    }
    assertThat(openai.chat().completions().create(ask(Cluster.MODEL, 4).build()).choices())
        .hasSize(1);
  }

  @Test
  void unknownModelIsNotFound() {
    var params = ask("no-such-model", 4).build();

    assertThatThrownBy(() -> openai.chat().completions().create(params))
        .isInstanceOfSatisfying(
            NotFoundException.class,
            notFound -> assertThat(notFound.code()).contains("model_not_found"))
        .hasMessageContaining("no-such-model");
  }

  @Test
  void impossibleTemperatureIsABadRequest() {
    var params = ask(Cluster.MODEL, 4).temperature(-7).build();

    assertThatThrownBy(() -> openai.chat().completions().create(params))
        .isInstanceOf(BadRequestException.class)
        .hasMessageContaining("Temperature must be between 0 and 2, got -7");
  }

  @Test
  void responsesContinueAConversation() {
    var conversation =
        openai.conversations().create(ConversationCreateParams.builder().build()).id();
    var first = openai.responses().create(inside(conversation, "What is the capital of France?"));
    var text = new StringBuilder();
    try (var stream = openai.responses().createStreaming(inside(conversation, "And of Italy?"))) {
      stream.stream()
          .flatMap(event -> event.outputTextDelta().stream())
          .forEach(delta -> text.append(delta.delta()));
    }

    var items =
        openai.conversations().items().list(conversation).autoPager().stream()
            .map(item -> item.asMessage().role().toString())
            .toList();
    assertThat(items).containsExactly("assistant", "user", "assistant", "user");
    assertThat(first.conversation().orElseThrow().id()).isEqualTo(conversation);
    assertThat(text.toString()).isNotEmpty();
    assertThat(openai.conversations().delete(conversation).deleted()).isTrue();
    assertThatThrownBy(() -> openai.conversations().retrieve(conversation))
        .isInstanceOf(NotFoundException.class);
  }

  private static ResponseCreateParams inside(String conversation, String input) {
    return ResponseCreateParams.builder()
        .model(Cluster.MODEL)
        .input(input)
        .conversation(conversation)
        .maxOutputTokens(24)
        .build();
  }

  private static ChatCompletionCreateParams.Builder ask(String model, int tokens) {
    return ChatCompletionCreateParams.builder()
        .model(model)
        .temperature(0)
        .maxCompletionTokens(tokens)
        .addUserMessage("Hello");
  }
}
