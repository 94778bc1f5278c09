package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Text becomes tokens, tokens are continued, and become text again, on a real server. */
@BuildServer
class TokenRoutesIT {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final URI SERVER = URI.create(System.getProperty("base.url"));

  private static String post(String method, String path, String body) throws Exception {
    try (var http = HttpClient.newHttpClient()) {
      var answer =
          http.send(
              HttpRequest.newBuilder(SERVER.resolve(path))
                  .timeout(Duration.ofSeconds(30))
                  .header("content-type", "application/json")
                  .method(method, HttpRequest.BodyPublishers.ofString(body))
                  .build(),
              HttpResponse.BodyHandlers.ofString());
      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
      return answer.body();
    }
  }

  private static JsonNode json(String path, String body) throws Exception {
    return JSON.readTree(post("POST", path, body));
  }

  private static String question() throws Exception {
    return json(
            "/tokenize",
            "{\"messages\":[{\"role\":\"user\",\"content\":\"What is the capital of France?\"}]}")
        .get("tokens")
        .toString();
  }

  @Test
  void tokensAreContinuedInVllmsForm() throws Exception {
    var body = "{\"model\":\"tiny\",\"token_ids\":%s,\"sampling_params\":{\"temperature\":0}%s}";
    var whole = json("/inference/v1/generate", body.formatted(question(), ""));
    var ids = whole.at("/choices/0/token_ids");

    var text = json("/detokenize", "{\"tokens\":" + ids + "}").get("prompt").asText();

    assertThat(text).contains("Paris");
    var streamed =
        post("POST", "/inference/v1/generate", body.formatted(question(), ",\"stream\":true"));
    var parts = JSON.createArrayNode();
    for (var frame : streamed.split("\n\n", -1)) {
      if (frame.startsWith("data: {")) {
        JSON.readTree(frame.substring("data: ".length()))
            .at("/choices/0/token_ids")
            .forEach(parts::add);
      }
    }
    assertThat(parts).isEqualTo(ids);
    assertThat(streamed).endsWith("data: [DONE]\n\n");
  }

  @Test
  void promptsAreContinuedInSglangsForm() throws Exception {
    var body =
        "{\"input_ids\":%s,\"sampling_params\":{\"temperature\":0}%s}".formatted(question(), "%s");

    assertThat(JSON.readTree(post("PUT", "/generate", body.formatted(""))).get("text").asText())
        .contains("Paris");
    assertThat(post("POST", "/generate", body.formatted(",\"stream\":true")))
        .contains("\"output_ids\":[")
        .endsWith("data: [DONE]\n\n");
  }
}
