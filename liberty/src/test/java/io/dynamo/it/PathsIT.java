package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every route at another path, by Dynamo's names, on one server. */
class PathsIT {
  private static final ObjectMapper JSON = new ObjectMapper();

  private static ServerProcess server;
  private static HttpClient http;

  @BeforeAll
  static void start() throws Exception {
    server =
        ServerProcess.Plan.named("paths")
            .with("DYN_HTTP_SVC_CHAT_PATH", "/v1/chat")
            .with("DYN_HTTP_SVC_CMP_PATH", "/api/complete")
            .with("DYN_HTTP_SVC_EMB_PATH", "/api/embed")
            .with("DYN_HTTP_SVC_RERANK_PATH", "/api/rerank")
            .with("DYN_HTTP_SVC_CLASSIFY_PATH", "/api/classify")
            .with("DYN_HTTP_SVC_POOLING_PATH", "/api/pool")
            .with("DYN_HTTP_SVC_RESPONSES_PATH", "/api/responses")
            .with("DYN_HTTP_SVC_ANTHROPIC_PATH", "/anthropic/messages")
            .with("DYN_HTTP_SVC_VLLM_GENERATE_PATH", "/vllm")
            .with("DYN_HTTP_SVC_SGLANG_GENERATE_PATH", "/sglang")
            .with("DYN_HTTP_SVC_MODELS_PATH", "/v1/m")
            .with("DYN_HTTP_SVC_LIVE_PATH", "/alive")
            .with("DYN_HTTP_SVC_HEALTH_PATH", "/well")
            .with("DYN_HTTP_SVC_METRICS_PATH", "/figures")
            .start()
            .awaitReady();
    http = HttpClient.newHttpClient();
  }

  @AfterAll
  static void stop() {
    if (http != null) {
      http.close();
    }
    server.close();
  }

  private static HttpResponse<String> send(String method, String path, String body)
      throws Exception {
    return http.send(
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
            .timeout(Duration.ofSeconds(60))
            .header("content-type", "application/json")
            .method(
                method,
                body.isEmpty()
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofString(body))
            .build(),
        HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
  }

  private static HttpResponse<String> served(String method, String path, String body)
      throws Exception {
    var answer = send(method, path, body);
    assertThat(answer.statusCode()).as("%s: %s", path, answer.body()).isEqualTo(200);
    return answer;
  }

  private static String chat(String more) {
    return "{\"model\":\"%s\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}],\"max_tokens\":3%s}"
        .formatted(Cluster.MODEL, more);
  }

  @Test
  void chatIsServedWholeAndStreamedAtItsPath() throws Exception {
    assertThat(served("POST", "/v1/chat", chat("")).body()).contains("chat.completion");
    assertThat(served("POST", "/v1/chat", chat(",\"stream\":true")).body())
        .contains("chat.completion.chunk")
        .endsWith("data: [DONE]\n\n");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "/api/complete | {'model':'M','prompt':'hi','max_tokens':3} | text_completion",
        "/api/responses | {'model':'M','input':'hi','max_output_tokens':3} | resp_",
        "/api/responses/input_tokens | {'model':'M','input':'hi'} | response.input_tokens",
        "/anthropic/messages/count_tokens |"
            + " {'model':'M','messages':[{'role':'user','content':'hi'}]} | input_tokens",
        "/vllm | {'model':'M','token_ids':[1,2],'sampling_params':{'max_tokens':3}} | choices",
        "/sglang | {'input_ids':[1,2],'sampling_params':{'max_new_tokens':3}} | output_ids",
      })
  void inferenceIsServedAtItsPath(String path, String body, String part) throws Exception {
    assertThat(
            served(
                    "POST",
                    path,
                    body.replace('\'', '"').replace("\"M\"", "\"" + Cluster.MODEL + "\""))
                .body())
        .contains(part);
  }

  @Test
  void modelsAreListedAtTheirPath() throws Exception {
    assertThat(JSON.readTree(served("GET", "/v1/m", "").body()).at("/data/0/id").asText())
        .isEqualTo(Cluster.MODEL);
    assertThat(served("GET", "/v1/m/" + Cluster.MODEL, "").body()).contains(Cluster.MODEL);
    assertThat(served("GET", "/v1/m/" + Cluster.MODEL + "/ready", "").body()).contains("ready");
    var unknown = send("GET", "/v1/m/no/such", "");
    assertThat(unknown.statusCode()).as(unknown.body()).isEqualTo(404);
    assertThat(unknown.body()).contains("no/such");
    var escaped = send("GET", "/v1/m/no%2Fsuch", "");
    assertThat(escaped.statusCode()).as(escaped.body()).isEqualTo(404);
    assertThat(escaped.body()).contains("`no/such`");
    assertThat(send("GET", "/v1/m/no%20such", "").body()).contains("no such");
  }

  @Test
  void probesAndMetricsAreServedAtTheirPaths() throws Exception {
    assertThat(served("GET", "/alive", "").body()).contains("live");
    assertThat(served("GET", "/well", "").body()).contains("UP");
    assertThat(served("GET", "/well/ready", "").body()).contains("UP");
    assertThat(served("GET", "/figures", "").body()).contains("dynamo_frontend_");
    assertThat(send("GET", "/figures/base", "").statusCode()).isEqualTo(404);
  }

  @Test
  void healthAndMetricsStayAtTheirStandardPathsToo() throws Exception {
    assertThat(served("GET", "/health", "").body()).contains("UP");
    assertThat(served("GET", "/health/ready", "").body()).contains("UP");
    assertThat(served("GET", "/metrics", "").body()).contains("dynamo_frontend_");
    assertThat(send("GET", "/live", "").statusCode()).isEqualTo(404);
  }

  @ParameterizedTest
  @ValueSource(strings = {"/api/embed", "/api/rerank", "/api/classify", "/api/pool"})
  void routesWithoutWorkersReadTheirRequestsAtTheirPlaces(String path) throws Exception {
    var answer = send("POST", path, "{\"model\":\"x\"}");

    assertThat(answer.statusCode()).as(answer.body()).isIn(400, 404);
    assertThat(answer.body()).containsAnyOf("Model not found", "missing field");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/v1/chat/completions",
        "/v1/chat;x=1/completions",
        "/v1/%63hat/completions",
        "/v1/completions",
        "/v1/embeddings",
        "/v1/rerank",
        "/v1/classify",
        "/v1/pooling",
        "/v1/responses",
        "/v1/responses/input_tokens",
        "/v1/messages",
        "/inference/v1/generate",
        "/generate",
        "/v1/chat/",
        "/api/responses/",
        "/api/responses//input_tokens",
      })
  void nothingIsServedWhereRoutesWere(String path) throws Exception {
    var answer = send("POST", path, chat(""));

    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(404);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/v1/m/%2e%2e/%2e%2e/busy_threshold",
        "/v1/m/..;/..;/busy_threshold",
        "/v1/m/%252e%252e/%252e%252e/busy_threshold",
        "/well/%2e%2e/busy_threshold",
      })
  void noPathLeadsOutOfAMovedRoute(String path) throws Exception {
    assertThat(send("GET", path, "").body()).doesNotContain("thresholds");
  }

  @Test
  void errorsHaveTheFormOfTheirApi() throws Exception {
    assertThat(send("POST", "/anthropic/messages", "{}").body()).contains("\"type\":\"error\"");
    assertThat(send("GET", "/v1/chat", "").statusCode()).isEqualTo(405);
    assertThat(send("GET", "/v1/models", "").statusCode()).isEqualTo(404);
  }

  @Test
  void compressedBodyIsRefusedAtAMovedPath() throws Exception {
    var answer =
        http.send(
            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + "/v1/chat"))
                .timeout(Duration.ofSeconds(60))
                .header("content-type", "application/json")
                .header("content-encoding", "gzip")
                .POST(HttpRequest.BodyPublishers.ofString("x"))
                .build(),
            HttpResponse.BodyHandlers.ofString());

    assertThat(answer.statusCode()).isEqualTo(415);
  }

  @Test
  void consoleAsksWhereRoutesAre() throws Exception {
    assertThat(served("GET", "/console/chat.js", "").body()).contains("fetch(\"/v1/chat\"");
    assertThat(served("GET", "/", "").body()).contains("href=\"/v1/m\"");
  }

  @Test
  void descriptionOfTheApiHasThePathsOfClients() throws Exception {
    var paths = JSON.readTree(served("GET", "/openapi.json", "").body()).get("paths");

    assertThat(paths.has("/v1/chat")).isTrue();
    assertThat(paths.has("/v1/chat/completions")).isFalse();
    assertThat(paths.has("/api/responses/input_tokens")).isTrue();
    assertThat(paths.has("/v1/m")).isTrue();
  }
}
