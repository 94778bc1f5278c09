package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.core.JsonValue;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.completions.CompletionCreateParams;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Completions, several choices and log probabilities, by OpenAI's SDK for Java and plain HTTP. */
class CompletionsIT {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final HttpClient HTTP = HttpClient.newHttpClient();

  // the engine of this server makes a token for every seed, and tells all that is asked of it
  private static final ServerProcess SERVER = SharedServer.get();

  @AutoClose
  private final OpenAIClient openai =
      OpenAIOkHttpClient.builder()
          .baseUrl(SERVER.uri("/v1").toString())
          .apiKey("none")
          .maxRetries(0)
          .build();

  private static HttpResponse<String> send(String method, String path, String body)
      throws IOException, InterruptedException {
    var request =
        HttpRequest.newBuilder(SERVER.uri(path))
            .timeout(Duration.ofSeconds(30))
            .header("content-type", "application/json")
            .method(method, HttpRequest.BodyPublishers.ofString(body))
            .build();
    return HTTP.send(request, HttpResponse.BodyHandlers.ofString());
  }

  private static String ask(String more) {
    return "{\"model\":\"%s\",\"prompt\":\"Hello\",\"max_tokens\":6,\"seed\":1%s}"
        .formatted(Cluster.MODEL, more);
  }

  private static CompletionCreateParams.Builder params() {
    return CompletionCreateParams.builder()
        .model(Cluster.MODEL)
        .prompt("Hello")
        .maxTokens(8)
        .seed(1);
  }

  @Test
  void streamAddsUpToTheUnaryAnswer() {
    var unary = openai.completions().create(params().build());
    var streamed = new StringBuilder();
    try (var stream = openai.completions().createStreaming(params().build())) {
      stream.stream()
          .flatMap(chunk -> chunk.choices().stream())
          .forEach(choice -> streamed.append(choice.text()));
    }
    assertThat(streamed.toString()).isNotEmpty().isEqualTo(unary.choices().getFirst().text());
    assertThat(unary.usage().orElseThrow().completionTokens()).isEqualTo(8);
  }

  @Test
  void batchesGiveTheirChoicesInOrderAndTheFirstIsThatOfOneAlone() {
    var alone = openai.completions().create(params().build()).choices().getFirst().text();
    var batch =
        openai
            .completions()
            .create(params().promptOfArrayOfStrings(List.of("Hello", "Other")).n(2).build());
    assertThat(batch.choices())
        .extracting(choice -> choice.index())
        .containsExactly(0L, 1L, 2L, 3L);
    var texts = batch.choices().stream().map(choice -> choice.text()).toList();
    assertThat(texts.getFirst()).isEqualTo(alone);
    assertThat(texts.get(1)).as("another seed").isNotEqualTo(alone);
    assertThat(batch.usage().orElseThrow().completionTokens()).isEqualTo(32);
  }

  @Test
  void theTextIsItsTokensInOrderAfterTheEcho() {
    var choice =
        openai.completions().create(params().echo(true).logprobs(2).build()).choices().getFirst();
    var logprobs = choice.logprobs().orElseThrow();
    var tokens = logprobs.tokens().orElseThrow();
    assertThat(choice.text()).isEqualTo("Hello" + String.join("", tokens));
    assertThat(logprobs.tokenLogprobs().orElseThrow()).hasSize(8).allMatch(it -> it < 0);
    var offsets = logprobs.textOffset().orElseThrow();
    for (int i = 0; i < tokens.size(); i++) {
      assertThat(choice.text().substring(Math.toIntExact(offsets.get(i))))
          .startsWith(tokens.get(i));
    }
  }

  @Test
  void chatTellsLogprobsOfEachChoice() {
    var answer =
        openai
            .chat()
            .completions()
            .create(
                ChatCompletionCreateParams.builder()
                    .model(Cluster.MODEL)
                    .addUserMessage("Hello")
                    .maxCompletionTokens(5)
                    .putAdditionalBodyProperty("seed", JsonValue.from(1))
                    .n(3)
                    .logprobs(true)
                    .topLogprobs(2)
                    .build());
    assertThat(answer.choices()).hasSize(3);
    for (var choice : answer.choices()) {
      var tokens = choice.logprobs().orElseThrow().content().orElseThrow();
      assertThat(String.join("", tokens.stream().map(token -> token.token()).toList()))
          .isEqualTo(choice.message().content().orElseThrow());
      assertThat(tokens).allMatch(token -> token.topLogprobs().size() == 2);
      assertThat(tokens).allMatch(token -> token.bytes().isPresent());
    }
    assertThat(answer.choices())
        .extracting(choice -> choice.message().content().orElseThrow())
        .doesNotHaveDuplicates();
  }

  @Test
  void theExtensionTellsTheWorkerAndTheTokens() throws Exception {
    var more = ",\"nvext\":{\"extra_fields\":[\"worker_id\",\"timing\",\"completion_token_ids\"]}";
    var nvext = json(send("POST", "/v1/completions", ask(more)), 200).get("nvext");
    assertThat(nvext.get("completion_token_ids")).hasSize(6);
    assertThat(nvext.at("/worker_id/decode_worker_id").isIntegralNumber()).isTrue();
    assertThat(nvext.at("/timing/ttft_ms").asDouble()).isPositive();
  }

  private static JsonNode json(HttpResponse<String> answer, int status) throws IOException {
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
    assertThat(answer.headers().firstValue("content-type").orElse("")).contains("json");
    return JSON.readTree(answer.body());
  }

  @Test
  void everyRefusalHasTheOneEnvelope() throws Exception {
    var refusals =
        List.of(
            json(send("GET", "/v1/completions", ""), 405),
            json(send("DELETE", "/v1/chat/completions", ""), 405),
            json(send("POST", "/v1/models", "{}"), 405),
            json(send("POST", "/v1/completions/", "{}"), 404),
            json(send("POST", "/v1/embeddings", "{}"), 400),
            json(send("POST", "/v1/audio/transcriptions", "{}"), 404),
            json(send("GET", "/v1/models/no-such", ""), 404),
            json(send("POST", "/v1/completions", "{"), 400),
            json(send("POST", "/v1/completions", ask(",\"logprobs\":6")), 400),
            json(send("POST", "/v1/completions", ask(",\"zzz\":6")), 400));
    for (var refusal : refusals) {
      assertThat(refusal.at("/error/message").asText()).isNotEmpty();
      assertThat(refusal.at("/error/message")).isEqualTo(refusal.get("message"));
      assertThat(refusal.at("/error/type").isTextual()).isTrue();
      assertThat(refusal.get("type").isTextual()).isTrue();
      assertThat(refusal.get("code").isInt()).isTrue();
    }
    assertThat(send("GET", "/v1/completions", "").headers().firstValue("allow")).contains("POST");
  }

  @Test
  void aModelIsFoundByItsNameAndSaysWhetherItIsReady() throws Exception {
    var model = json(send("GET", "/v1/models/" + Cluster.MODEL, ""), 200);
    assertThat(model.get("id").asText()).isEqualTo(Cluster.MODEL);
    var ready = json(send("GET", "/v1/models/" + Cluster.MODEL + "/ready", ""), 200);
    assertThat(ready.get("ready").asBoolean()).isTrue();
  }
}
