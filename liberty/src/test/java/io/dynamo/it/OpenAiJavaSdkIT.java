package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.core.JsonValue;
import com.openai.core.MultipartField;
import com.openai.errors.BadRequestException;
import com.openai.errors.NotFoundException;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.conversations.ConversationCreateParams;
import com.openai.models.embeddings.Embedding;
import com.openai.models.embeddings.EmbeddingCreateParams;
import com.openai.models.files.FileCreateParams;
import com.openai.models.files.FileListParams;
import com.openai.models.files.FileObject;
import com.openai.models.files.FilePurpose;
import com.openai.models.responses.FunctionTool;
import com.openai.models.responses.ResponseCreateParams;
import com.openai.models.responses.ResponseStreamEvent;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
  void closedStreamEndsItsGeneration() throws Exception {
    var endless =
        ask(Cluster.MODEL, 1000)
            .putAdditionalBodyProperty("ignore_eos", JsonValue.from(true))
            .build();
    Cancellations.expectOne(
        "chat_completions",
        () -> {
          try (var stream = openai.chat().completions().createStreaming(endless)) {
            assertThat(stream.stream().findFirst()).isPresent();
          }
        });
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

  @Test
  void closedStreamOfAResponseEndsItsGeneration() throws Exception {
    var endless =
        ResponseCreateParams.builder()
            .model(Cluster.MODEL)
            .input("Count to twenty.")
            .temperature(0)
            .maxOutputTokens(800)
            .build();
    Cancellations.expectOne(
        "responses",
        () -> {
          try (var stream = openai.responses().createStreaming(endless)) {
            assertThat(stream.stream().filter(OpenAiJavaSdkIT::isText).findFirst()).isPresent();
          }
        });
  }

  private static boolean isText(ResponseStreamEvent event) {
    return event.isOutputTextDelta() || event.isReasoningTextDelta();
  }

  @Test
  void wrongResponsesAreRefused() {
    var unknown = ResponseCreateParams.builder().model("no-such-model").input("Hello").build();
    var hot =
        ResponseCreateParams.builder().model(Cluster.MODEL).input("Hello").temperature(9).build();

    assertThatThrownBy(() -> openai.responses().create(unknown))
        .isInstanceOfSatisfying(
            NotFoundException.class,
            notFound -> assertThat(notFound.code()).contains("model_not_found"));
    assertThatThrownBy(() -> openai.responses().createStreaming(hot))
        .isInstanceOfSatisfying(
            BadRequestException.class, bad -> assertThat(bad.param()).contains("temperature"));
  }

  @Test
  void wrongEmbeddingsAreRefused() {
    var wide =
        EmbeddingCreateParams.builder().model(Cluster.MODEL).input("a").dimensions(100_000).build();

    assertThatThrownBy(() -> openai.embeddings().create(wide))
        .isInstanceOf(BadRequestException.class);
  }

  @Test
  void toolsOfAResponseAreCalled() {
    var weather =
        FunctionTool.builder()
            .name("get_weather")
            .description("Weather of a city")
            .strict(Optional.empty())
            .parameters(
                FunctionTool.Parameters.builder()
                    .putAdditionalProperty("type", JsonValue.from("object"))
                    .putAdditionalProperty(
                        "properties", JsonValue.from(Map.of("location", Map.of("type", "string"))))
                    .build())
            .build();
    var asked =
        ResponseCreateParams.builder()
            .model(Cluster.MODEL)
            .input("What is the weather in Paris?")
            .temperature(0)
            .maxOutputTokens(64)
            .addTool(weather)
            .build();

    var call = openai.responses().create(asked).output().getLast().asFunctionCall();

    assertThat(call.name()).isEqualTo("get_weather");
    assertThat(call.arguments().replace(" ", "")).isEqualTo("{\"location\":\"Paris\"}");
  }

  @Test
  void filesAreKeptAndForgotten() throws Exception {
    var text = "{\"custom_id\":\"a\"}\n";
    var sent =
        MultipartField.<InputStream>builder()
            .value(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)))
            .filename("in.jsonl")
            .build();

    var file =
        openai
            .files()
            .create(FileCreateParams.builder().file(sent).purpose(FilePurpose.BATCH).build());

    assertThat(file.filename()).isEqualTo("in.jsonl");
    assertThat(file.bytes()).isEqualTo(text.length());
    assertThat(openai.files().retrieve(file.id())).isEqualTo(file);
    try (var content = openai.files().content(file.id())) {
      assertThat(content.body()).hasContent(text);
    }
    var pages = openai.files().list(FileListParams.builder().limit(1).build()).autoPager();
    assertThat(pages.stream().map(FileObject::id)).contains(file.id());
    assertThat(openai.files().delete(file.id()).deleted()).isTrue();
    assertThatThrownBy(() -> openai.files().content(file.id()))
        .isInstanceOf(NotFoundException.class)
        .hasMessageContaining("No such file");
    assertThatThrownBy(() -> openai.files().delete(file.id()))
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
