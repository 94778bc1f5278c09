package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The prefill of a chat's next turn ({@code speculative_prefill}) on a whole server. */
class FollowUpPrefillIT {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final ServerProcess SERVER = SharedServer.get();

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void theRouterPlacesAPromptThatHasTheAnswer(boolean stream) throws Exception {
    var id = UUID.randomUUID().toString();
    var answer =
        HTTP.send(
            HttpRequest.newBuilder(SERVER.uri("/v1/chat/completions"))
                .timeout(LIMIT)
                .header("content-type", "application/json")
                .header("x-dynamo-request-id", id)
                .POST(HttpRequest.BodyPublishers.ofString(body(id, stream)))
                .build(),
            HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    var first = explanation(id);
    assertThat(first.statusCode()).as(first.body()).isEqualTo(200);
    Polling.until(
        "the prompt of the next turn is placed",
        LIMIT,
        () -> explanation(id + "-next").statusCode() == 200);
    assertThat(promptTokens(explanation(id + "-next"))).isGreaterThan(promptTokens(first));
  }

  private static String body(String question, boolean stream) {
    return """
    {"model":"%s","messages":[{"role":"user","content":"%s"}],"max_tokens":24,"stream":%s,
     "nvext":{"agent_hints":{"speculative_prefill":true}}}\
    """
        .formatted(Cluster.MODEL, question, stream);
  }

  private static HttpResponse<String> explanation(String id)
      throws IOException, InterruptedException {
    return HTTP.send(
        HttpRequest.newBuilder(SERVER.uri("/router/explain/" + id)).timeout(LIMIT).build(),
        HttpResponse.BodyHandlers.ofString());
  }

  private static int promptTokens(HttpResponse<String> explanation) throws IOException {
    JsonNode decision = JSON.readTree(explanation.body());
    return decision.get("prompt_tokens").intValue();
  }
}
