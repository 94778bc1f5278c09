package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.data.segment.TextSegment;
import dev.langchain4j.exception.InvalidRequestException;
import dev.langchain4j.exception.ModelNotFoundException;
import dev.langchain4j.model.anthropic.AnthropicChatModel;
import dev.langchain4j.model.anthropic.AnthropicStreamingChatModel;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.langchain4j.model.openai.OpenAiEmbeddingModel;
import dev.langchain4j.model.openai.OpenAiResponsesChatModel;
import dev.langchain4j.model.openai.OpenAiStreamingChatModel;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** LangChain4j over the routes of OpenAI and of Anthropic, by the model that ships along. */
@BuildServer
class LangChain4jIT {
  private static final String BASE = System.getProperty("base.url");
  private static final String KEY = "none";
  private static final String ASKED = "What is the capital of France?";
  private static final String ANSWER = "The capital of France is Paris.";

  private static OpenAiChatModel.OpenAiChatModelBuilder chat(int maxTokens) {
    return OpenAiChatModel.builder()
        .baseUrl(BASE + "/v1")
        .apiKey(KEY)
        .modelName(Cluster.MODEL)
        .temperature(0.0)
        .maxTokens(maxTokens)
        .maxRetries(0)
        .timeout(Duration.ofSeconds(60));
  }

  @Test
  void chatIsAnswered() {
    var response = chat(24).build().chat(ChatRequest.builder().messages(user(ASKED)).build());

    assertThat(response.aiMessage().text()).contains(ANSWER);
    assertThat(response.tokenUsage().inputTokenCount()).isPositive();
    assertThat(response.tokenUsage().outputTokenCount()).isBetween(1, 24);
  }

  @Test
  void streamOfChatAddsUpToItsAnswer() throws Exception {
    var model =
        OpenAiStreamingChatModel.builder()
            .baseUrl(BASE + "/v1")
            .apiKey(KEY)
            .modelName(Cluster.MODEL)
            .temperature(0.0)
            .maxTokens(24)
            .build();

    assertThat(streamed(model)).contains(ANSWER);
  }

  @Test
  void responsesAreAnswered() {
    var model =
        OpenAiResponsesChatModel.builder()
            .baseUrl(BASE + "/v1")
            .apiKey(KEY)
            .modelName(Cluster.MODEL)
            .temperature(0.0)
            .maxOutputTokens(24)
            .build();

    assertThat(model.chat(ASKED)).contains(ANSWER);
  }

  @Test
  void messagesAreAnswered() throws Exception {
    var whole =
        AnthropicChatModel.builder()
            .baseUrl(BASE + "/v1")
            .apiKey(KEY)
            .modelName(Cluster.MODEL)
            .temperature(0.0)
            .maxTokens(64)
            .maxRetries(0)
            .build();
    var stream =
        AnthropicStreamingChatModel.builder()
            .baseUrl(BASE + "/v1")
            .apiKey(KEY)
            .modelName(Cluster.MODEL)
            .temperature(0.0)
            .maxTokens(64)
            .build();

    assertThat(whole.chat(ASKED)).contains(ANSWER).isEqualTo(streamed(stream));
  }

  @Test
  void textsAreEmbedded() {
    var model =
        OpenAiEmbeddingModel.builder()
            .baseUrl(BASE + "/v1")
            .apiKey(KEY)
            .modelName(Cluster.MODEL)
            .maxRetries(0)
            .build();

    var vectors =
        model
            .embedAll(
                List.of(
                    TextSegment.from(ASKED), TextSegment.from("Hello"), TextSegment.from(ASKED)))
            .content();

    assertThat(vectors).hasSize(3);
    assertThat(vectors.get(0)).isEqualTo(vectors.get(2)).isNotEqualTo(vectors.get(1));
    assertThat(model.dimension()).isEqualTo(vectors.getFirst().dimension());
  }

  @Test
  void refusalsAreItsExceptions() {
    assertThatExceptionOfType(ModelNotFoundException.class)
        .isThrownBy(() -> chat(1).modelName("nobody").build().chat(ASKED));
    assertThatExceptionOfType(InvalidRequestException.class)
        .isThrownBy(() -> chat(1).temperature(-1.0).build().chat(ASKED));
  }

  private static UserMessage user(String text) {
    return UserMessage.from(text);
  }

  /** The text of a streamed answer, which must be the one that its end tells. */
  private static String streamed(StreamingChatModel model) throws Exception {
    var pieces = new StringBuilder();
    var end = new CompletableFuture<ChatResponse>();
    model.chat(
        ASKED,
        new StreamingChatResponseHandler() {
          @Override
          public void onPartialResponse(String piece) {
            pieces.append(piece);
          }

          @Override
          public void onCompleteResponse(ChatResponse response) {
            end.complete(response);
          }

          @Override
          public void onError(Throwable failure) {
            end.completeExceptionally(failure);
          }
        });
    var response = end.get(60, TimeUnit.SECONDS);
    assertThat(pieces).hasToString(response.aiMessage().text());
    return pieces.toString();
  }
}
